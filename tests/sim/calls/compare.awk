# SPDX-License-Identifier: BSD-2-Clause
# Compares answers and commands of two libraries, call by call. Files: differences, stock's answers and record, ours.

function trim(text) {
    gsub(/^[ \t]+|[ \t]+$/, "", text)
    return text
}

function applies(list, value,    i, n, words) {
    if (list == "*") return 1
    n = split(list, words, ",")
    for (i = 1; i <= n; i++) if (words[i] == value) return 1
    return 0
}

FNR == 1 { file++; label = "(start)" }

# differences: LABEL ; PROVIDER ; KERNEL ; REASON
file == 1 {
    if ($0 ~ /^[ \t]*(#|$)/) next
    n = split($0, column, ";")
    if (n < 4) { print "differences, line " FNR ": needs LABEL ; PROVIDER ; KERNEL ; REASON"; bad++; next }
    if (applies(trim(column[2]), abi) && (applies(trim(column[3]), kernel) || (refuse != "" && trim(column[3]) == "refuse"))) reason[trim(column[1])] = trim(column[4])
    next
}

# Answers: a line "LABEL: …" and lines of outputs, which begin with two blanks.
file == 2 || file == 4 {
    side = file == 2 ? "stock" : "ours"
    if ($0 !~ /^  /) {
        label = $0
        sub(/:( .*)?$/, "", label)
        if (side == "stock" && !(label in known)) { known[label] = 1; order[++labels] = label }
        if (side == "ours" && !(label in known)) { known[label] = 1; order[++labels] = label }
    }
    answer[side, label] = answer[side, label] $0 "\n"
    next
}

# Records: "# LABEL" and what the kernel was asked for from there on.
file == 3 || file == 5 {
    side = file == 3 ? "stock" : "ours"
    if (sub(/^# /, "")) { label = $0; next }
    if (label in known || label == "(start)") record[side, label] = record[side, label] $0 "\n"
    if ($0 !~ /^  /) commands++
    next
}

function differ(label) {
    return answer["stock", label] != answer["ours", label] ||
           (refuse == "" && record["stock", label] != record["ours", label])
}

function show(side, label) {
    print "--- " side
    printf "%s%s", answer[side, label], record[side, label]
}

END {
    for (i = 1; i <= labels; i++) {
        label = order[i]
        if (differ(label)) {
            if (label in reason) { meant++; continue }
            bad++
            print "not equal: " label
            show("stock", label)
            show("ours", label)
        } else if (label in reason && refuse == "") {
            bad++
            print "equal, though it is listed under `differences`: " label
        } else {
            equal++
        }
    }
    for (label in reason) if (!(label in known) && refuse == "") { bad++; print "listed under `differences`, but there is no such call: " label }
    printf "%d calls equal, %d differ on purpose, %d wrong; %d commands\n", equal, meant, bad, commands
    exit bad > 0 || equal == 0 || commands == 0
}
