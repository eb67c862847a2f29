ª
"serve*2.16.0…
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
=
complexPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
*
complex/sameIdentitycomplex*
T0"¿*u
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
ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*r
complexg
!
x
	complex:0ÿÿÿÿÿÿÿÿÿ&
y!
complex/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
doublee
 
x
double:0ÿÿÿÿÿÿÿÿÿ%
y 
double/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
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
int32/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*l
int64c

x
int64:0	ÿÿÿÿÿÿÿÿÿ$
y
int64/same:0	ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*i
int8a

x
int8:0ÿÿÿÿÿÿÿÿÿ#
y
int8/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*v
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
uint32/same:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict*o
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