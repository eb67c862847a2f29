-- Posts one request to the model "simple" by the binary tensor data extension, again and again.
local function input(name)
    return '{"name":"' .. name .. '","datatype":"INT32","shape":[1,16],"parameters":{"binary_data_size":64}}'
end

local header = '{"inputs":[' .. input("INPUT0") .. "," .. input("INPUT1") .. '],"parameters":{"binary_data_output":true}}'
local tensor = ""
for value = 0, 15 do
    tensor = tensor .. string.char(value, 0, 0, 0)
end

wrk.method = "POST"
wrk.body = header .. tensor .. tensor
wrk.headers["Content-Type"] = "application/octet-stream"
wrk.headers["Inference-Header-Content-Length"] = tostring(#header)
