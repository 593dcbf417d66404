#!/bin/sh
# Download crawler-commons 1.6 and what it needs from Maven Central, for the
# tests of this package: fetch.sh FOLDER, then set URLFOLD_JARS to the folder.
set -eu
mkdir -p "$1"
cd "$1"
for jar in \
	com/github/crawler-commons/crawler-commons/1.6/crawler-commons-1.6.jar \
	org/slf4j/slf4j-api/1.7.36/slf4j-api-1.7.36.jar \
	org/slf4j/slf4j-nop/1.7.36/slf4j-nop-1.7.36.jar; do
	curl -fsSLO "https://repo1.maven.org/maven2/$jar"
done
