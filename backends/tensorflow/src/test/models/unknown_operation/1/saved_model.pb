Þ
"serve*2.16.0`
7
xPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ
 
yNoSuchOperationx*
T0"¿*i
serving_defaultV

x
x:0ÿÿÿÿÿÿÿÿÿ
y
y:0ÿÿÿÿÿÿÿÿÿtensorflow/serving/predict