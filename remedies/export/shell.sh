set -eu
export LC_ALL=C

# in_ns NETNS PROGRAM WORD...: runs it in a network namespace; '' is the host's own.
in_ns() {
	ns=$1
	shift
	if [ -n "$ns" ]; then ip netns exec "$ns" "$@"; else "$@"; fi
}

words() { tr -s '[:space:]' ' ' | sed 's/^ //; s/ $//'; }

# get_KIND NETNS WHERE... prints a value as it is now; put_KIND has the value as its
# last word.
get_file() { in_ns "$1" cat -- "$2" | words; }
put_file() { printf '%s\n' "$3" | in_ns "$1" tee -- "$2" >/dev/null; }

# A mask of CPUs without the zeros in front.
get_mask() { get_file "$1" "$2" | sed 's/^[0,]*\(.\)/\1/'; }
put_mask() { put_file "$@"; }

# The kernel marks the one in force: always [madvise] never.
get_choice() { get_file "$1" "$2" | sed 's/.*\[\(.*\)\].*/\1/'; }
put_choice() { put_file "$@"; }

# shows_now OPTION NETNS DEVICE LABEL: what ethtool shows, the second part of it where
# the first tells the driver's maximum.
shows_now() {
	in_ns "$2" ethtool "$1" "$3" | awk -v label="$4" '
		/^Current/ { value = "" }
		{ sub(/^[ \t]+/, "") }
		index($0, label ":") == 1 && value == "" { split(substr($0, length(label) + 2), all, " "); value = all[1] }
		END { print value }'
}

get_ring() { shows_now -g "$1" "$2" "$3"; }
put_ring() { in_ns "$1" ethtool -G "$2" "$4" "$5"; }
get_channels() { shows_now -l "$1" "$2" "$3"; }
put_channels() { in_ns "$1" ethtool -L "$2" "$4" "$5"; }
get_feature() { shows_now -k "$1" "$2" "$3"; }
put_feature() { in_ns "$1" ethtool -K "$2" "$4" "$5"; }
put_coalesce() { in_ns "$1" ethtool -C "$2" "$4" "$5"; }
get_coalesce() {
	case $4 in
	adaptive-rx) in_ns "$1" ethtool -c "$2" | sed -n 's/^Adaptive RX: *\([a-z/]*\).*/\1/p' ;;
	adaptive-tx) in_ns "$1" ethtool -c "$2" | sed -n 's/^Adaptive RX:.*TX: *\([a-z/]*\).*/\1/p' ;;
	*) shows_now -c "$1" "$2" "$3" ;;
	esac
}

get_txqueuelen() { in_ns "$1" ip -d link show dev "$2" | sed -n 's/.* qlen \([0-9]*\).*/\1/p'; }
put_txqueuelen() { in_ns "$1" ip link set dev "$2" txqueuelen "$3"; }

# get_qdisc NETNS DEVICE PARENT OPTION: of the queue discipline there. kind is its name,
# parent the class with its handle, where PARENT leaves that open (:1).
get_qdisc() {
	in_ns "$1" tc -j qdisc show dev "$2" | tr '{' '\n' | awk -v at="$3" -v name="$4" '
		/"kind":/ {
			here = at == "root" ? index($0, "\"root\":true") : at ~ /^:/ ? $0 ~ "\"parent\":\"[0-9a-f]*" at "\"" : index($0, "\"parent\":\"" at "\"")
			if (here && (name == "kind" || name == "parent")) {
				sub(".*\"" name "\":\"", "")
				sub(/".*/, "")
				print
				exit
			}
			next
		}
		here {
			n = split($0, all, /[,}]/)
			for (i = 1; i <= n; i++) if (index(all[i], "\"" name "\":") == 1) { sub(/^[^:]*:/, "", all[i]); print all[i]; exit }
		}'
}
put_qdisc() { # NETNS DEVICE PARENT OPTION VALUE
	kind=$(get_qdisc "$1" "$2" "$3" kind)
	if [ "$3" = root ]; then
		in_ns "$1" tc qdisc change dev "$2" root "$kind" "$4" "$5"
	else
		in_ns "$1" tc qdisc change dev "$2" parent "$(get_qdisc "$1" "$2" "$3" parent)" "$kind" "$4" "$5"
	fi
}

# The one route to a destination, as ip prints it; the marks that it takes no more are
# left out.
one_route() { # NETNS DESTINATION DEVICE
	case $2 in *:*) family=-6 ;; *) family=-4 ;; esac
	if [ -n "$3" ]; then
		in_ns "$1" ip "$family" route show table main exact "$2" dev "$3" | sed "s/^[^ ]*/& dev $3/"
	else
		in_ns "$1" ip "$family" route show table main exact "$2"
	fi | awk '
		{ for (i = 1; i <= NF; i++) if ($i ~ /^(linkdown|dead|pervasive|offload|trap|notify|unresolved|rt_offload|rt_trap)$/) $i = ""; line = $0 }
		END { if (NR != 1) exit 1; print line }'
}
get_route() { # NETNS DESTINATION DEVICE METRIC
	one_route "$1" "$2" "$3" | awk -v name="$4" '
		{ value = 0; for (i = 1; i < NF; i++) if ($i == name) value = $(i + 1) == "lock" ? $(i + 2) : $(i + 1); sub(/ms$/, "", value); print value }'
}
put_route() { # NETNS DESTINATION DEVICE METRIC VALUE
	unit=''
	if [ "$4" = rto_min ]; then unit=ms; fi
	line=$(one_route "$1" "$2" "$3" | awk -v name="$4" -v value="$5" -v unit="$unit" '
		{ for (i = 1; i < NF; i++) if ($i == name) { if ($(i + 1) == "lock") $(i + 2) = ""; $i = ""; $(i + 1) = "" }
		  if (value != 0) $0 = $0 " " name " " value unit; print }')
	case $2 in *:*) family=-6 ;; *) family=-4 ;; esac
	set -f
	# shellcheck disable=SC2086 # the words that ip printed are those that it takes
	in_ns "$1" ip "$family" route change $line
	set +f
}

now() { "now_$1" 2>/dev/null || true; }

# look NUMBER: says what a setting is, and fails where it is not what the plan found.
look() {
	what=$("what_$1") want=$("before_$1") then=$("after_$1") is=$(now "$1")
	if [ "$is" = "$then" ]; then
		printf '%s: %s already\n' "$what" "$is"
	elif [ "$is" = "$want" ]; then
		printf '%s: %s, to be %s\n' "$what" "$is" "$then"
	else
		printf '%s: it is "%s" now, and was "%s" when the plan was made\n' "$what" "$is" "$want" >&2
		return 1
	fi
}

# make NUMBER VALUE: sets it and looks whether the kernel has it.
make() {
	is=$(now "$1")
	if [ "$is" = "$2" ]; then return 0; fi
	what=$("what_$1")
	printf '%s: %s -> %s\n' "$what" "$is" "$2"
	if ! "set_$1" "$2"; then
		printf '%s: it could not be set\n' "$what" >&2
		return 1
	fi
	got=$(now "$1")
	if [ "$got" != "$2" ]; then
		printf '%s: it was set to "%s", and the kernel has "%s"\n' "$what" "$2" "$got" >&2
		return 1
	fi
}

# backwards NUMBER...: the last first.
backwards() {
	turned=''
	for i in "$@"; do turned="$i $turned"; done
	printf '%s' "$turned"
}

apply() {
	bad=0
	for i in $all; do look "$i" || bad=1; done
	if [ $bad = 1 ] && [ "$force" = 0 ]; then
		echo "nothing was changed; --force sets them all the same" >&2
		exit 1
	fi
	made=''
	for i in $all; do
		old=$(now "$i")
		eval "old_$i=\$old"
		made="$made $i"
		if ! make "$i" "$("after_$i")"; then
			echo "undoing what was changed before" >&2
			# shellcheck disable=SC2086 # numbers
			for j in $(backwards $made); do
				eval "old=\$old_$j"
				make "$j" "$old" || echo "it is not as before" >&2
			done
			exit 1
		fi
	done
}

# undo puts the plan's old values back where this script's are in force.
undo() {
	bad=0
	# shellcheck disable=SC2086 # numbers
	for i in $(backwards $all); do
		is=$(now "$i")
		if [ "$is" = "$("before_$i")" ]; then
			continue
		elif [ "$is" != "$("after_$i")" ] && [ "$force" = 0 ]; then
			printf '%s: another set it to "%s": it is left so\n' "$("what_$i")" "$is" >&2
			bad=1
		else
			make "$i" "$("before_$i")" || bad=1
		fi
	done
	return $bad
}

verify() {
	bad=0
	for i in $all; do
		is=$(now "$i")
		if [ "$is" != "$("after_$i")" ]; then
			printf '%s: %s, and not %s\n' "$("what_$i")" "$is" "$("after_$i")"
			bad=1
		fi
	done
	return $bad
}

force=0 do=''
for word in "$@"; do
	case $word in
	--force) force=1 ;;
	apply | start) do=apply ;;
	undo | stop) do=undo ;;
	verify) do=verify ;;
	full_rollback) ;; # tuned's, beside stop
	*)
		echo "usage: $0 apply|undo|verify [--force]" >&2
		exit 2
		;;
	esac
done
if [ -z "$do" ]; then
	echo "usage: $0 apply|undo|verify [--force]" >&2
	exit 2
fi
"$do"
