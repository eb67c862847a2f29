#!/bin/sh
# Copies the jars of PATHS, which are separated by colons, into FOLDER, and removes from it all others but OWN: copy-libraries.sh PATHS FOLDER OWN.
# What an earlier build left there, such as a library's last version, would be a second module of the same name.
set -eu
paths=$1
folder=$2
own=$3
mkdir -p "$folder"
wanted=:$own:
IFS=:
for path in $paths; do
    case $path in
        *.jar) ;;
        *) continue ;; # the module's own classes, which are in OWN
    esac
    name=${path##*/}
    wanted=$wanted$name:
    # What did not change stays as it is: an AOT cache is for these files. A copy that is cut short takes no jar's place.
    if [ ! -e "$folder/$name" ] || [ "$path" -nt "$folder/$name" ]; then
        cp -p "$path" "$folder/$name.new"
        mv "$folder/$name.new" "$folder/$name"
    fi
done
for path in "$folder"/*.jar; do
    case $wanted in
        *":${path##*/}:"*) ;;
        *) rm "$path" ;;
    esac
done
