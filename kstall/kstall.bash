# SPDX-License-Identifier: GPL-2.0
# bash completion for kstall, which has commands and options from the program itself

_kstall()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words

	case $prev in
	--module)
		mapfile -t COMPREPLY < <(compgen -W 'aer drm_sched ib_cq io_uring iommu mm_migrate' -- "$cur")
		return ;;
	--step)
		mapfile -t COMPREPLY < <(compgen -W 'marker nccl all uprobe:' -- "$cur")
		return ;;
	-p | --pid)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo pid=)" -- "$cur")
		return ;;
	--jobs)
		mapfile -t COMPREPLY < <(compgen -W 'slurm kubernetes file: command:' -- "$cur")
		return ;;
	--comm)
		mapfile -t COMPREPLY < <(compgen -W "$(ps -eo comm= | sort -u)" -- "$cur")
		return ;;
	esac
	words=$("${COMP_WORDS[0]}" --options words "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
	# Where a command is to come, nothing else is.
	case $cur,$words in
	-*,* | *,[!-]*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}
complete -o filenames -F _kstall kstall
