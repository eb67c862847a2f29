#!/bin/sh
# Unpacks the libraries of the page, which are the webjars among PATHS, into FOLDER: unpack-page-libraries.sh LAUNCHER PATHS FOLDER.
set -eu
launcher=$1
paths=$2
folder=$3
jar=$(dirname "$(GATUN_BUILD=never "$launcher" --print-java)")/jar
rm -rf "$folder"
mkdir -p "$folder"
IFS=:
for path in $paths; do
    case $path in
        */org/webjars/*.jar) (cd "$folder" && "$jar" xf "$path" META-INF/resources/webjars) ;;
    esac
done
