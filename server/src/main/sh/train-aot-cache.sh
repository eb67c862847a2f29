#!/bin/sh
# Makes the AOT cache with which the server starts in half the time: train-aot-cache.sh LAUNCHER MODELS CACHE [INTERVAL]. A server
# serves the models, one of which is "simple", is asked over each protocol for INTERVAL, and stores at its end which classes it had loaded
# and linked, and which methods it called how. By that a server with the cache compiles them: 100 ms, in which a method is called for the first
# times, made requests dearer for as long as a server runs. A cache is worth nothing to another JVM, so it is made where it is used; before Java 25
# there is none.
set -eu
launcher=$1
models=$2
cache=$3
interval=${4:-2000ms}
export GATUN_BUILD=never
rm -f "$cache"
if [ "$("$launcher" --print-feature)" -lt 25 ]; then
    exit 0
fi
# A server without a cache starts all the same.
give_up() {
    echo "no AOT cache could be made, so the server will start more slowly: $1" >&2
    cat "$2" >&2
    exit 0
}

server=
folder=$(mktemp -d "$(dirname "$cache")/training.XXXXXX")
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
GATUN_GRPC_PORT=0 GATUN_JAVA_OPTS="-XX:AOTCacheOutput=$folder/cache" "$launcher" serve --model-repository="$models" \
    --http-address=127.0.0.1 --grpc-address=127.0.0.1 --http-port=0 --metrics-port=0 \
    --ready-file="$folder/ready" >"$folder/log" 2>&1 &
server=$!
waited=0
while [ ! -s "$folder/ready" ]; do
    if ! kill -0 "$server" 2>/dev/null || [ "$waited" -ge 600 ]; then
        give_up "it was not ready within a minute" "$folder/log"
    fi
    sleep 0.1
    waited=$((waited + 1))
done
http=$(sed -n 's/^http\.url=//p' "$folder/ready" | sed 's/\\//g')
grpc=$(sed -n 's/^grpc\.port=//p' "$folder/ready")
"$launcher" bench -m simple -u "$http,grpc://127.0.0.1:$grpc" --transport=binary,json,stream \
    --warm-up=0s --measurement-interval="$interval" --max-trials=1 >"$folder/bench" 2>&1 || give_up "it did not answer" "$folder/bench"
kill "$server"
wait "$server" || give_up "it did not end well" "$folder/log"
server=
mv "$folder/cache" "$cache"
