¿,
"serve*2.16.0ž
;
floatPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

float/sameIdentityfloat*
T0
<
doublePlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
double/sameIdentitydouble*
T0
;
int32Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

int32/sameIdentityint32*
T0
;
uint8Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

uint8/sameIdentityuint8*
T0
;
int16Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

int16/sameIdentityint16*
T0
:
int8Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
$
	int8/sameIdentityint8*
T0
<
stringPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
string/sameIdentitystring*
T0
;
int64Placeholder*
dtype0	*
shape:ÿÿÿÿÿÿÿÿÿ
&

int64/sameIdentityint64*
T0	
:
boolPlaceholder*
dtype0
*
shape:ÿÿÿÿÿÿÿÿÿ
$
	bool/sameIdentitybool*
T0

>
bfloat16Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
,
bfloat16/sameIdentitybfloat16*
T0
<
uint16Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
uint16/sameIdentityuint16*
T0
:
halfPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
$
	half/sameIdentityhalf*
T0
<
uint32Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
uint32/sameIdentityuint32*
T0
<
uint64Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
uint64/sameIdentityuint64*
T0
?
	complex64Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
.
complex64/sameIdentity	complex64*
T0
@

complex128Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
0
complex128/sameIdentity
complex128*
T0
;
qint8Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

qint8/sameIdentityqint8*
T0
<
quint8Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
quint8/sameIdentityquint8*
T0
<
qint16Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
qint16/sameIdentityqint16*
T0
=
quint16Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
*
quint16/sameIdentityquint16*
T0
<
qint32Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
(
qint32/sameIdentityqint32*
T0
:
int4Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
$
	int4/sameIdentityint4*
T0
;
uint4Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
&

uint4/sameIdentityuint4*
T0
>
fp8_e5m2Placeholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
,
fp8_e5m2/sameIdentityfp8_e5m2*
T0
@

fp8_e4m3fnPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
0
fp8_e4m3fn/sameIdentity
fp8_e4m3fn*
T0
>
resourcePlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
,
resource/sameIdentityresource*
T0"¿*u
bfloat16i
"
x

bfloat16:0ÿÿÿÿÿÿÿÿÿ'
y"
bfloat16/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
boola

x
bool:0
ÿÿÿÿÿÿÿÿÿ#
y
bool/same:0
ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*{

complex128m
$
x
complex128:0ÿÿÿÿÿÿÿÿÿ)
y$
complex128/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*x
	complex64k
#
x
complex64:0ÿÿÿÿÿÿÿÿÿ(
y#
complex64/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
doublee
 
x
double:0ÿÿÿÿÿÿÿÿÿ%
y 
double/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*{

fp8_e4m3fnm
$
x
fp8_e4m3fn:0ÿÿÿÿÿÿÿÿÿ)
y$
fp8_e4m3fn/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*u
fp8_e5m2i
"
x

fp8_e5m2:0ÿÿÿÿÿÿÿÿÿ'
y"
fp8_e5m2/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
halfa

x
half:0ÿÿÿÿÿÿÿÿÿ#
y
half/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
int16c

x
int16:0ÿÿÿÿÿÿÿÿÿ$
y
int16/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
int32c

x
int32:0ÿÿÿÿÿÿÿÿÿ$
y
int32/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
int4a

x
int4:0ÿÿÿÿÿÿÿÿÿ#
y
int4/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
int64c

x
int64:0	ÿÿÿÿÿÿÿÿÿ$
y
int64/same:0	ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
int8a

x
int8:0ÿÿÿÿÿÿÿÿÿ#
y
int8/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
qint16e
 
x
qint16:0ÿÿÿÿÿÿÿÿÿ%
y 
qint16/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
qint32e
 
x
qint32:0ÿÿÿÿÿÿÿÿÿ%
y 
qint32/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
qint8c

x
qint8:0ÿÿÿÿÿÿÿÿÿ$
y
qint8/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*r
quint16g
!
x
	quint16:0ÿÿÿÿÿÿÿÿÿ&
y!
quint16/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
quint8e
 
x
quint8:0ÿÿÿÿÿÿÿÿÿ%
y 
quint8/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*u
resourcei
"
x

resource:0ÿÿÿÿÿÿÿÿÿ'
y"
resource/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*v
serving_defaultc

x
float:0ÿÿÿÿÿÿÿÿÿ$
y
float/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
stringe
 
x
string:0ÿÿÿÿÿÿÿÿÿ%
y 
string/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
uint16e
 
x
uint16:0ÿÿÿÿÿÿÿÿÿ%
y 
uint16/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
uint32e
 
x
uint32:0ÿÿÿÿÿÿÿÿÿ%
y 
uint32/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
uint4c

x
uint4:0ÿÿÿÿÿÿÿÿÿ$
y
uint4/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
uint64e
 
x
uint64:0ÿÿÿÿÿÿÿÿÿ%
y 
uint64/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
uint8c

x
uint8:0ÿÿÿÿÿÿÿÿÿ$
y
uint8/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict