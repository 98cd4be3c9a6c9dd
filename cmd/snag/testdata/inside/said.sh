# said NAME COMMAND… prints the name, the exit code and what the command said, on a line.
set -f
said() {
	name=$1
	shift
	out=$("$@" 2>&1) && rc=0 || rc=$?
	echo "$name: $rc" $out
}
