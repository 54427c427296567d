#!/bin/sh
# Makes the releases in dist/: for each platform a static binary with licence,
# manual page, completions and systemd unit, and the checksums of all. The same
# commit and VERSION give the same bytes. `make dist` calls it.
#
#   VERSION=1.2.3 docs/packaging/dist.sh linux/amd64 linux/arm64 …
set -eu
cd "$(dirname "$0")/../.."
: "${GO:=go}" "${VERSION:?names the release}"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
tar=$(command -v gtar || command -v tar)
"$tar" --version | grep -q GNU || { echo "GNU tar is needed to pack the same bytes each time; install gtar" >&2; exit 1; }

build() { # GOOS GOARCH OUTPUT
	echo "building $VERSION for $1/$2"
	CGO_ENABLED=0 GOOS=$1 GOARCH=$2 $GO build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION" -o "$3" .
}

rm -rf dist
work=dist/work
mkdir -p $work/share/completions
build "$($GO env GOHOSTOS)" "$($GO env GOHOSTARCH)" $work/here
$work/here man >$work/share/shardpilot.1
for shell in bash zsh fish; do $work/here completion $shell >$work/share/completions/shardpilot.$shell; done
cp LICENSE README.md docs/packaging/shardpilot.service docs/packaging/Containerfile $work/share

for platform; do
	os=${platform%/*} arch=${platform#*/}
	name=shardpilot-$VERSION-$os-$arch
	cp -R $work/share "dist/$name"
	build "$os" "$arch" "dist/$name/shardpilot"
	# What is linked in comes with its licences. Not in the pipe, which would not
	# stop where the list cannot be made.
	linked=$(GOOS=$os GOARCH=$arch CGO_ENABLED=0 $GO list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' .)
	printf '%s\n' "$linked" | sort -u |
		while read -r module version dir; do
			printf '\n===== %s %s\n\n' "$module" "$version"
			cat "$dir"/LICENSE* "$dir"/COPYING* "$dir"/NOTICE* 2>/dev/null || true
		done >"dist/$name/THIRD_PARTY"
	find "dist/$name" -type f -exec chmod 644 {} +
	find "dist/$name" -type d -exec chmod 755 {} +
	chmod 755 "dist/$name/shardpilot"
	"$tar" -C dist --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
	rm -rf "dist/$name"
done
rm -rf $work
(cd dist && sha256sum -- *.tar.gz >SHA256SUMS && cat SHA256SUMS)
