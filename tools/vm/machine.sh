# What tools/vm/run.sh and tools/vm/pack.sh have in common: Debian's kernels, and the
# initramfs that they boot with. Packages and results stay in .cache/vm. To be
# sourced, at the root of the tree.
cache=$PWD/.cache/vm
mkdir -p "$cache"

missing=""
for need in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio ip:iproute2 nft:nftables depmod:kmod xz:xz-utils gcc:gcc; do
	command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
done
[ -e /usr/include/liburing.h ] || missing="$missing liburing-dev"
if [ -n "$missing" ]; then
	echo "snag vm: these Debian packages are missing:$missing" >&2
	echo "snag vm: run, as root: apt-get install --no-install-recommends$missing" >&2
	exit 1
fi
# The initramfs has no libc.
if ldd "$(command -v busybox)" >/dev/null 2>&1; then
	echo "snag vm: $(command -v busybox) needs shared libraries; run, as root: apt-get install busybox-static" >&2
	exit 1
fi
for need in bin/snag bin/snag-lab; do
	[ -x $need ] || { echo "snag vm: no $need; run: make build" >&2; exit 1; }
done

# in_suite SUITE COMMAND… runs apt with the lists of one suite alone, apart from
# those of this machine.
in_suite() {
	local d=$cache/$1/apt command=$2
	shift 2
	"$command" -q -o Dir::Etc::SourceList="$d/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::State::Lists="$d/lists" -o Dir::State::Status=/dev/null \
		-o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache= \
		-o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

# archive PATTERN is the archive of that sort that this machine's own sources name.
archive() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		sed '/^#/d' | grep -oE '[a-z+]+://[^ ]+' | grep -m1 -E "$1"
}

# fetch SUITE leaves the newest kernel of a suite, unpacked, in .cache/vm/SUITE/root,
# and its release in .cache/vm/SUITE/release. What is there is kept; rm -r .cache/vm
# asks for newer ones.
fetch() {
	local suite=$1 d=$cache/$1 package
	[ -f "$d/release" ] && return
	rm -rf "$d"
	mkdir -p "$d/apt/lists/partial"
	local key=/usr/share/keyrings/debian-archive-keyring.gpg
	printf 'deb [signed-by=%s] %s %s main\n' $key "$(archive '/debian/?$')" "$suite" >"$d/apt/sources.list"
	printf 'deb [signed-by=%s] %s %s-security main\n' $key "$(archive '/debian-security/?$')" "$suite" >>"$d/apt/sources.list"
	in_suite "$suite" apt-get update >"$d/apt/log" 2>&1 || { cat "$d/apt/log" >&2; return 1; }
	# The package of that name is empty and depends on the newest kernel.
	package=$(in_suite "$suite" apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: //p' | head -1)
	echo "snag vm: fetching $package of $suite" >&2
	(cd "$d" && in_suite "$suite" apt-get download "$package" >>apt/log 2>&1) || { cat "$d/apt/log" >&2; return 1; }
	dpkg-deb -x "$d"/*.deb "$d/root"
	rm "$d"/*.deb
	[ -e "$d/root/lib" ] || ln -s usr/lib "$d/root/lib" # since Debian 13
	depmod -b "$d/root" "${package#linux-image-}"
	echo "${package#linux-image-}" >"$d/release"
}

# Modules that snag's netlink requests load by their aliases, those of the lab, and
# what they need.
modules="inet_diag tcp_diag udp_diag raw_diag unix_diag veth tun sch_tbf nf_tables nft_counter nft_limit nft_numgen nft_ct"

# Programs of this project in the initramfs.
programs="bin/snag bin/snag-lab"

# initramfs SUITE RELEASE INIT MODULES COMMANDS [EXTRA] packs busybox, $programs, INIT, these
# modules with what they need, these commands with their libraries, and what is in the folder
# EXTRA.
initramfs() {
	local d=$cache/$1 release=$2 init=$3 modules=$4 commands=$5 extra=${6:-} r=$cache/$1/initramfs m f
	rm -rf "$r"
	mkdir -p "$r"/{bin,etc,tmp,proc,sys,dev,out} "$r/lib/modules/$release"
	cp "$(command -v busybox)" "$r/bin/busybox"
	for f in sh modprobe; do ln -s busybox "$r/bin/$f"; done
	ln -s bin "$r/sbin" # the kernel calls /sbin/modprobe
	[ -z "$programs" ] || cp $programs "$r/bin/"
	for f in $commands; do
		rm -f "$r/bin/$f"
		cp "$(command -v "$f")" "$r/bin/$f"
		ldd "$r/bin/$f" | grep -o '/[^ ]*' | while read -r lib; do
			mkdir -p "$r${lib%/*}"
			cp -L "$lib" "$r$lib"
		done
	done
	[ -z "$extra" ] || cp -r "$extra/." "$r/"
	install -m 755 "$init" "$r/init"
	printf 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$r/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$r/etc/group"
	cp "$d/root/lib/modules/$release"/modules.{order,builtin,builtin.modinfo} "$r/lib/modules/$release/"
	for m in $modules; do
		# One that a kernel has not is part of another there: nft_counter since 5.18.
		{ modprobe -d "$d/root" -S "$release" --show-depends "$m" 2>/dev/null || true; } | sed -n 's/^insmod \([^ ]*\).*/\1/p'
	done | sort -u | while read -r f; do
		cp "$f" "$r/lib/modules/$release/"
	done
	# busybox loads no compressed module of every format: all are unpacked here.
	find "$r/lib/modules" -name '*.ko.xz' -exec xz -d {} +
	depmod -b "$r" "$release"
	(cd "$r" && find . | cpio --quiet -o -H newc | gzip -1) >"$d/initrd.gz"
}
