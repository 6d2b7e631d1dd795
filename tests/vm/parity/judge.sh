# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # variables of run
# How a case runs and is judged. Sourced by run; the cases are in cases.sh.
#
# A case runs once on each side, "stock" and "ours". What it did goes to DIRECTORY/SIDE/: a file "status", and for
# each program its output and its errors. The sides must be equal after masking, the statuses must be the expected
# ones (what the stock library is known to do), and each process must have loaded the libibverbs of its side.

# Programs that run as another user write there what they load.
umask 0
declare -A library_of=([stock]=$stock_library [ours]=$our_library)
# What ours is meant to do otherwise in a case: a sed script that turns stock's output into ours, and our status. A
# case sets them just for itself: our_answer=... our_status=... same ...
our_answer=
our_status=
# Debian's plugin of this name in place of our provider.
our_plugin=
# "all", or "statuses" where what programs print is theirs to choose.
compare=all
# How often a pair may try until both programs end as expected.
attempts=1
number=0
failed=0
port=20000
# Longer than any program needs, even when the machine is busy.
patience=60

selected() {
    [[ $1 =~ $filter ]]
}

# mask FILE...: takes out, in place, everything that a run chooses at random, measures, or leaves undefined.
mask() {
    sed -E -i \
        -e 's/(QPN|PSN|RKey|VAddr) 0x[0-9a-f]+/\1/g' \
        -e 's/^parse WC failed [0-9]+$/parse WC failed (as many as one poll found)/' \
        -e 's/in [0-9.]+ seconds = ([0-9.]+|inf|-?nan) /in N seconds = N /' \
        -e 's/^( [0-9]+ +[0-9]+)([[:space:]]+[0-9.]+)+[[:space:]]*$/\1 N/' \
        -e '/Conflicting CPU frequency|CPU frequency is not max|^Correlation coefficient/d' \
        -e 's/(client|server) read\/write: .*/\1 read\/write: (an old errno)/' \
        -e 's/(libibverbs: Warning:) .*/\1 (in its own words)/' \
        -e '/^(server|client) DISCONNECT EVENT|^wait for RDMA_READ_ADV state/d' \
        -e 's/127\.0\.0\.1:[0-9]+/127.0.0.1:PORT/' \
        "$@"
}

# on SIDE NAME COMMAND...: runs the command with the side's library; its output and errors go to files. The dynamic
# loader writes down what it loads.
on() {
    local side=$1 name=$2 environment=(LD_DEBUG=libs "LD_DEBUG_OUTPUT=$PWD/$1/loaded")
    shift 2
    [[ ${library_of[$side]} == "$stock_library" ]] || environment+=("LD_LIBRARY_PATH=${library_of[$side]%/*}")
    [[ $side == stock ]] || environment+=("PATH=$our_path")
    [[ $side == stock || -z $our_plugin ]] || environment+=("IBV_DRIVERS=$our_plugin")
    timeout "$patience" env "${environment[@]}" "$@" </dev/null >"$side/$name.out" 2>"$side/$name.err"
}

# As bash says it, so that a crash reads as one.
describe_status() {
    case $1 in
        124) echo "still running after $patience s" ;;
        134) echo 'aborted' ;;
        139) echo 'segmentation fault' ;;
        143) echo 'waits for ever' ;;
        *) echo "$1" ;;
    esac
}

# loaded_by SIDE: each libibverbs and each rxe or siw provider that its processes loaded, once.
loaded_by() {
    awk '/calling init: .*\/(libibverbs\.so\.1|lib(rxe|siw)-rdmav[0-9]+\.so)$/ && !seen[$NF]++ { print $NF }' "$1"/loaded.*
}

# check_loaded SIDE: that the processes loaded the side's library, and no provider but its own.
check_loaded() {
    local side=$1 file providers=${library_of[$1]%/*}/libibverbs found=no
    if [[ $side == stock || ${library_of[$side]} == "$stock_library" || -n $our_plugin ]]; then
        providers=/usr/lib/x86_64-linux-gnu/libibverbs
    fi
    while read -r file; do
        if [[ $file == "${library_of[$side]}" ]]; then
            found=yes
        elif [[ $file != "$providers"/* ]]; then
            echo "the $side side loaded $file, which is not its own"
        fi
    done < <(loaded_by "$side")
    [[ $found == yes ]] || echo "the $side side did not load ${library_of[$side]}"
}

report() {
    local verdict=$1 name=$2
    ((++number))
    echo "$verdict $number - $name # time=$((${EPOCHREALTIME/./} / 1000 - started))ms"
    [[ $verdict == ok ]] || ((++failed))
}

explain() {
    sed 's/^/# /'
}

# judge NAME EXPECTED: compares the sides.
judge() {
    local name=$1 expected=$2 side wrong why=()
    for side in stock ours; do
        wrong=$(check_loaded "$side")
        [[ -z $wrong ]] || why+=("$wrong")
        [[ $side == stock || $against_itself == yes || -z $our_status ]] || expected=$our_status
        [[ $(<"$side/status") == "$expected" ]] || why+=("$side: $(<"$side/status"); expected: $expected")
    done
    mask {stock,ours}/*.{out,err}
    if [[ $against_itself == no ]]; then
        [[ -z $our_answer ]] || sed -E -s -i "$our_answer" stock/*.{out,err}
        [[ -z $our_status ]] || cp ours/status stock/status
    fi
    local differs=(diff -r -u -x 'loaded.*')
    [[ $compare == all ]] || differs+=(-x '*.out' -x '*.err')
    "${differs[@]}" stock ours >difference || why+=("the sides differ:" "$(<difference)")
    [[ $compare == all || ${#why[@]} == 0 ]] || why+=("$(tail -n 20 {stock,ours}/*.{out,err})")
    if ((${#why[@]})); then
        report 'not ok' "$name"
        printf '%s\n' "${why[@]}" | explain
    else
        report ok "$name"
    fi
}

prepare() {
    started=$((${EPOCHREALTIME/./} / 1000))
    rm -rf stock ours
    mkdir stock ours
}

# same NAME STATUS COMMAND...: one program, alone. The two sides run at the same time.
same() {
    local name=$1 expected=$2 side
    shift 2
    selected "$name" || return 0
    prepare
    for side in stock ours; do
        {
            on "$side" it "$@"
            describe_status $? >"$side/status"
        } 2>/dev/null &
    done
    wait
    judge "$name" "$expected"
}

# in_turn NAME STATUS BEFORE COMMAND...: as same, one side after the other, each after the function BEFORE.
in_turn() {
    local name=$1 expected=$2 before=$3 side
    shift 3
    selected "$name" || return 0
    prepare
    for side in stock ours; do
        "$before"
        on "$side" it "$@" 2>/dev/null
        describe_status $? >"$side/status"
    done
    judge "$name" "$expected"
}

# tool NAME STATUS COMMAND...: Debian's tool on Debian's library, and ours on ours.
tool() {
    local our_path=$build/bin:$PATH # seen by on
    same "$@"
}

# run_pair SIDE SERVER_SIDE READY SERVER CLIENT: a server and, when READY succeeds, its client.
run_pair() {
    local side=$1 server_side=$2 ready=$3 server=$4 client=$5 pid client_status server_status
    # shellcheck disable=SC2086 # commands without quotes
    on "$server_side" server $server 2>/dev/null &
    pid=$!
    # shellcheck disable=SC2086
    wait_until "$patience" eval "$ready || ! kill -0 $pid 2>/dev/null"
    # shellcheck disable=SC2086
    on "$side" client $client
    client_status=$?
    # A server whose client has gone ends at once, or never.
    wait_until 5 eval "! kill -0 $pid 2>/dev/null" || kill "$pid"
    wait "$pid"
    server_status=$?
    printf 'server %s, client %s\n' "$(describe_status $server_status)" "$(describe_status $client_status)"
}

# pair NAME STATUS READY SERVER CLIENT: a server and its client. PORT in the commands is a free TCP port; STATUS is
# that of both, or "SERVER/CLIENT".
pair() {
    local name=$1 status=$2 ready=$3 server=$4 client=$5 side expected attempt
    selected "$name" || return 0
    expected="server ${status%/*}, client ${status#*/}"
    prepare
    for side in stock ours; do
        for ((attempt = 1; attempt <= attempts; ++attempt)); do
            ((++port))
            run_pair "$side" "$side" "${ready//PORT/$port}" "${server//PORT/$port}" "${client//PORT/$port}" \
                >"$side/status" 2>/dev/null
            [[ $(<"$side/status") != "$expected" ]] || break
        done
    done
    judge "$name" "$expected"
}

tool_pair() {
    local our_path=$build/bin:$PATH # seen by on
    pair "$@"
}

# over_tcp NAME STATUS COMMAND: the programs whose client is the server's command with the host's address after it.
over_tcp() {
    pair "$1" "$2" 'listens PORT' "$3 -p PORT" "$3 -p PORT 127.0.0.1"
}

# mixed_pair NAME READY SERVER CLIENT: as pair, server and client on different libraries; both must succeed.
mixed_pair() {
    local name=$1 ready=$2 server_command=$3 client_command=$4 server client result
    selected "$name" || return 0
    for server in stock ours; do
        client=ours
        [[ $server == stock ]] || client=stock
        prepare
        ((++port))
        result=$(run_pair "$client" "$server" "${ready//PORT/$port}" "${server_command//PORT/$port}" \
            "${client_command//PORT/$port}" 2>/dev/null)
        result+=$(check_loaded stock)$(check_loaded ours)
        if [[ $result == 'server 0, client 0' ]]; then
            report ok "$name, server on $server"
        else
            report 'not ok' "$name, server on $server"
            { echo "$result"; tail -n 20 {stock,ours}/*.{out,err}; } | explain
        fi
    done
}

# mixed NAME COMMAND: as over_tcp, in this way.
mixed() {
    mixed_pair "$1" 'listens PORT' "$2 -p PORT" "$2 -p PORT 127.0.0.1"
}

# alone NAME COMMAND: as mixed, one program of ours that needs no library.
alone() {
    local name=$1 command=$2 result
    selected "$name" || return 0
    prepare
    ((++port))
    result=$(run_pair ours ours "listens $port" "$command -p $port" "$command -p $port 127.0.0.1" 2>/dev/null)
    result+=$(compgen -G 'ours/loaded.*')
    if [[ $result == 'server 0, client 0' ]]; then
        report ok "$name"
    else
        report 'not ok' "$name"
        { echo "$result"; tail -n 20 ours/*.{out,err}; } | explain
    fi
}

# mixed_tools NAME COMMAND: as mixed, Debian's tool against ours.
mixed_tools() {
    local our_path=$build/bin:$PATH # seen by on
    mixed "our $1 and Debian's" "$2"
}

# golden NAME FILE COMMAND...: a program without any library prints what is in the file.
golden() {
    local name=$1 file=$2
    shift 2
    selected "$name" || return 0
    prepare
    if timeout "$patience" "$@" 2>&1 </dev/null | diff -u "$file" - >difference; then
        report ok "$name"
    else
        report 'not ok' "$name"
        explain <difference
    fi
}

skipped() {
    ((++number))
    echo "ok $number - $1 # SKIP $2"
}

finish() {
    echo "1..$number"
    ((number > 0)) || die "no case has a name that matches '$filter'"
    exit $((failed > 0))
}
