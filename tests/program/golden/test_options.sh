#!/usr/bin/env bash
# description: each command of kstall takes the options that bash completion offers, and no others
# host: it asks the program for its options
# tier1: 6.12
# once: it does not ask the kernel
. ./lib.sh
commands=(why record diff timeline metrics)
! "$KSTALL" --help | grep -q '^  top ' || commands+=(top)
plan $((${#commands[@]} + 2))

mapfile -t all < <(sed -n 's/^	{ "\([a-z]*\)", \(no\|required\)_argument.*/\1/p' "$here/../../../kstall/cmd/options.c")

# takes COMMAND: its options. Another option behind each is wrong, so that nothing is ever done.
takes() {
	local option value said
	for option in "${all[@]}"; do
		value='=x'
		[ "$option" != json ] || value=
		said=$("$KSTALL" "$1" "--$option$value" --nonsense 2>&1)
		[[ $said == *"an option of another command"* ]] || echo "--$option"
	done | sort | xargs
}

# shellcheck source=../../../kstall/kstall.bash
. "$here/../../../kstall/kstall.bash"

# offered WORD…: what completion has for what comes behind these
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_kstall
	printf '%s\n' "${COMPREPLY[@]}"
}

for command in "${commands[@]}"; do
	same "$command" "$(takes "$command")" \
		"$(offered kstall "$command" - | sed 's/^-i$/--input/; s/^-o$/--output/; s/^-p$/--pid/; /^--$/d' | sort | xargs)"
done
same "the commands of recorder" "$("$KSTALL" recorder --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | sort | xargs)" \
	"$(offered kstall recorder '' | sort | xargs)"
same "the commands" "$("$KSTALL" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p' | sort | xargs)" \
	"$(offered kstall '' | grep -xE "$(IFS='|' && echo "${commands[*]}|recorder")" | sort | xargs)"
