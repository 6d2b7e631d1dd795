#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs a program of 2006 on our library, and on the stock one where it is installed, and compares what it prints.
#
#   run.sh TRANSCRIPT PLUGIN LIBRARY STOCK_LIBRARY
#
# TRANSCRIPT: the program. PLUGIN: the fake provider, libNAME-rdmav34.so. golden/transcript.txt is what the program
# printed on release 44.0; golden/strict.txt what it prints on ours with --strict, where stock leaves members of objects
# unset, writes past the port's attributes, or crashes.
set -u

if [ $# != 4 ]; then
    sed -n 's/^#   run.sh/usage: run.sh/p' "$0" >&2
    exit 2
fi
transcript=$1 plugin=$2 library=$3 stock=$4
for file in "$transcript" "$plugin" "$library"; do
    if [ ! -e "$file" ]; then
        echo "$file: there is no such file; has the tree been built?" >&2
        exit 2
    fi
done
golden=$(dirname "$0")/golden
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

class=$scratch/class
mkdir -p "$class"/infiniband_verbs/uverbs0 "$class"/infiniband/fake0/ports/1
echo 6 >"$class"/infiniband_verbs/abi_version
echo fake0 >"$class"/infiniband_verbs/uverbs0/ibdev
echo 1:3 >"$class"/infiniband_verbs/uverbs0/dev
echo 2 >"$class"/infiniband_verbs/uverbs0/abi_version
echo '1: CA' >"$class"/infiniband/fake0/node_type
echo '5054:00ff:fe12:3456' >"$class"/infiniband/fake0/node_guid
mkdir "$scratch"/stock
ln -s "$stock" "$scratch"/stock/libibverbs.so.1

# check DIRECTORY GOLDEN [OPTION]: runs it on the library in the directory.
check() {
    local directory=$1 expected=$golden/$2
    shift 2
    SYSFS_PATH=$scratch IBV_DRIVERS=${plugin%-rdmav34.so} LD_LIBRARY_PATH=$directory "$transcript" "$@" \
        >"$scratch/output" </dev/null
    echo "exit code $?" >>"$scratch/output"
    if diff -u "$expected" "$scratch/output"; then
        echo "$(wc -l <"$expected") lines on $directory: as recorded"
    else
        failed=1
    fi
}

check "$(dirname "$library")" transcript.txt
check "$(dirname "$library")" strict.txt --strict
# Any release that has this ABI number in its plugins behaves the same.
if grep -qs IBVERBS_PRIVATE_34 "$stock"; then
    check "$scratch"/stock transcript.txt
fi
exit "$failed"
