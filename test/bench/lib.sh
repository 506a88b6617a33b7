# shellcheck shell=bash
# What the benchmarks share: time statements, print ratios.

# What wml_prior thinks of made-up tasks, and that tables do not exist yet, is noise here.
export PGOPTIONS='-c client_min_messages=error'

# run_often SQL [SETTING]... : runs SQL RUNS times in one session, without printing what it selects
RUNS=${RUNS:-5}
run_often() {
	local sql=$1 setting
	shift
	{
		echo "SET jit = off; SET work_mem = '1GB'; SET max_parallel_workers_per_gather = 0;"
		for setting; do echo "SET $setting;"; done
		echo '\o /dev/null'
		echo '\timing on'
		for _ in $(seq "$RUNS"); do echo "$sql;"; done
	} | psql -X -q -v ON_ERROR_STOP=1
}

# best SQL [SETTING]... : the least time in ms that SQL takes
best() {
	run_often "$@" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | sort -n | head -n 1
}

# best_of_two SQL : the same in each of two sessions at once, whichever takes longer
best_of_two() {
	local first second
	exec {first}< <(best "$1")
	second=$(best "$1")
	{ cat <&"$first"; echo "$second"; } | sort -n | tail -n 1
	exec {first}<&-
}

# best_cpu SQL : the least processor time in ms that SQL takes; only a superuser is told
best_cpu() {
	run_often "$1" "client_min_messages = log" "log_statement_stats = on" 2>&1 |
		awk '/^ERROR/ { print >"/dev/stderr" }
			/s user.*s elapsed/ { ms = 1000 * ($2 + $5); if (!runs++ || ms < least) least = ms }
			END { if (!runs) exit 1; print least }'
}

# children_ms PROCESS : the processor time in ms of its children that have ended; Linux tells it
children_ms() {
	awk -v hertz="$(getconf CLK_TCK)" '{ print 1000 * ($16 + $17) / hertz }' "/proc/$1/stat"
}

# all_gone PROCESS : waits until nothing is left of its sessions; the server's other processes stay
all_gone() {
	while ps --ppid "$1" -o args= |
		grep -v '^postgres: \(checkpointer\|background writer\|walwriter\|archiver\|logger\|stats\|autovacuum\|logical\|io worker\)' >/dev/null; do
		sleep 0.05
	done
}

# all_cpu SQL [SETTING]... : the least processor time in ms that all processes of the server together take for SQL, which
# with workers is more than their leader's; starting a session, too, is shared among its RUNS.  Nothing else may run in the server.
all_cpu() {
	local postmaster before
	postmaster=$(psql -X -A -t -c "SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)")
	for _ in 1 2 3; do
		all_gone "$postmaster"
		before=$(children_ms "$postmaster")
		run_often "$@" >/dev/null
		all_gone "$postmaster"
		awk -v before="$before" -v after="$(children_ms "$postmaster")" -v runs="$RUNS" 'BEGIN { print (after - before) / runs }'
	done | sort -n | head -n 1
}

# ratio A B : A / B with two decimals, without when large
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf a < 100 * b ? "%.2f" : "%.0f", a / b }'
}

# report WHAT MS BASELINE_WHAT BASELINE_MS [AIM] : one line of the table
report() {
	local decimals=1
	[[ ${4%.*} -ge 10 ]] || decimals=2
	printf '%-46s %9.1f ms  %6s x  %s (%.*f ms)%s\n' "$1" "$2" "$(ratio "$2" "$4")" "$3" "$decimals" "$4" "${5:+, aim $5}"
}

# python_with MODULE... : a Python that has these modules, Debian's before others; fails without one
python_with() {
	local python
	for python in /usr/bin/python3 python3; do
		if "$python" -c "import $(IFS=,; echo "$*")" 2>/dev/null; then
			echo "$python"
			return
		fi
	done
	return 1
}

# r_has PACKAGE : is R installed, and this package of it?
r_has() {
	Rscript --vanilla -e "library($1)" >/dev/null 2>&1
}

# sums ROWS... : the SQL that adds up all products of the given columns and y, written out
sums() {
	local columns=("$@" y) sql='count(*)' i j
	for i in "${!columns[@]}"; do
		for ((j = i; j < ${#columns[@]}; j++)); do
			sql+=", sum(${columns[i]} * ${columns[j]})"
		done
	done
	echo "$sql"
}

# each_set SCRIPT REPEATS FOLDER|FILE... : runs an SQL script on the tasks of each CSV file (see sets.R), after set.sql; :name is the set's
each_set() {
	local script=$1 repeats=$2 path file columns
	local files=()
	shift 2
	for path; do
		if [[ -d $path ]]; then
			files+=("$path"/*.csv)
		else
			files+=("$path")
		fi
	done
	for file in "${files[@]}"; do
		columns=$(head -n 1 "$file" | tr , '\n' | sed 's/.*/"&" text/' | paste -sd,)
		{
			cat <<-SQL
				SET client_min_messages = error;
				CREATE TEMP TABLE read ($columns);
				\\copy read FROM '$file' (FORMAT csv, HEADER)
			SQL
			cat "${script%/*}/set.sql" "$script"
		} | psql -X -q -A -t -v ON_ERROR_STOP=1 -v name="$(basename "$file" .csv)" -v repeats="$repeats"
	done
}
