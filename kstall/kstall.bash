# SPDX-License-Identifier: GPL-2.0
# bash completion for kstall

_kstall()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options

	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W 'why record diff timeline recorder metrics top' -- "$cur")
		return
	fi
	if [ "$COMP_CWORD" = 2 ] && [ "$prev" = recorder ]; then
		mapfile -t COMPREPLY < <(compgen -W 'start stop status show snapshot save last-boot setup-crash watch' -- "$cur")
		return
	fi
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
	case ${COMP_WORDS[1]} in
	why) options='-i -p --cgroup --comm --step --every --time --slowest --snapshot --buffer --json --' ;;
	record) options='-o -p --cgroup --comm --step --time --buffer --' ;;
	diff) options='-p --comm --step --every --json' ;;
	recorder) options='--config --since --module --json' ;;
	timeline) options='-o -p --comm' ;;
	metrics) options='--textfile --listen --every --jobs' ;;
	top) options='--fleet --slowest --every --json' ;;
	esac
	case $cur in
	-*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}
complete -o filenames -F _kstall kstall
