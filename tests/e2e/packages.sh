# SPDX-License-Identifier: MIT
# test-all: it builds packages
# What debian/ and packaging/ say: one version, the names that the library has, options that perfabi knows; and as far as the tools
# are there, what Debian's, rpm's, systemd's and YAML's linters say of it.
. tests/e2e/lib.sh
version=$("$perfabi" --version | cut -d ' ' -f 2)
# said FILE PATTERN : the version that a file names.
said() { [ "$(sed -n "s/$2/\1/p" "$1" | sort -u)" = "$version" ] || fail "$1 does not say $version: $(sed -n "s/$2/\1/p" "$1")"; }
said debian/changelog '^perfabi (\([0-9.]*\)).*'
said packaging/perfabi.spec '^Version: *\(.*\)'
said packaging/APKBUILD '^pkgver=\(.*\)'
said packaging/Containerfile '.*perfabi:\([0-9][0-9.]*\).*'
said packaging/kubernetes/perfabi-daemonset.yaml '.*image: perfabi:\([0-9][0-9.]*\)'
said packaging/kubernetes/perfabi-decode-job.yaml '.*image: perfabi:\([0-9][0-9.]*\)-shell'
said docs/packaging.md '.*perfabi:\([0-9][0-9.]*\).*'
[ "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ] || fail "CHANGELOG.md does not begin with $version"

# Names of the library: those of its map, and those that it has.
sed -n 's/^\t\(perfabi_[a-z_]*\);$/\1/p' decoder/libperfabi.map | sort >"$scratch/map"
sed -n 's/^ \(perfabi_[a-z_]*\)@PERFABI_0 [0-9.]*$/\1/p' debian/libperfabi0.symbols | sort | diff "$scratch/map" - || fail "debian/libperfabi0.symbols"
nm -D --defined-only "$B/libperfabi.so.0" | sed -n 's/.* T \(perfabi_[a-z_]*\).*/\1/p' | sort | diff "$scratch/map" - || fail "libperfabi.so.0"

# What is started without a person: its options are known. What --read makes of a recorded machine stands for asking this one.
started() {
	status 0 "$perfabi" "$@" --read fixtures/probe/arm64-6.12.json
	[ "$(wc -l <"$scratch/out")" -ge 100 ] || fail "lines of perfabi $*"
	jq -es 'all(has("key") and has("caller"))' "$scratch/out" >/dev/null || fail "what perfabi $* prints"
}
# shellcheck disable=SC2046 # words are meant to be split
started $(sed -n 's|^ExecStart=/usr/bin/perfabi ||p' packaging/systemd/perfabi-probe.service)
if "$PYTHON" -c 'import yaml' 2>/dev/null; then
	cat >"$scratch/daemonset.py" <<'END'
import sys
import yaml

with open("packaging/kubernetes/perfabi-daemonset.yaml") as file:
    documents = list(yaml.safe_load_all(file))
assert len(documents) == 1, documents
daemonset = documents[0]
assert (daemonset["apiVersion"], daemonset["kind"]) == ("apps/v1", "DaemonSet")
spec = daemonset["spec"]
pod = spec["template"]
labels = pod["metadata"]["labels"]
assert spec["selector"]["matchLabels"].items() <= labels.items(), labels
probe, = pod["spec"]["initContainers"]
assert "PERFMON" in probe["securityContext"]["capabilities"]["add"]
names = {variable["name"] for variable in probe["env"]}
for word in probe["args"]:
    assert not word.startswith("$(") or word[2:-1] in names, word
    print("node" if word.startswith("$(") else word)
END
	"$PYTHON" "$scratch/daemonset.py" >"$scratch/words" || fail "packaging/kubernetes/perfabi-daemonset.yaml"
	# shellcheck disable=SC2046
	started $(cat "$scratch/words")
	[ "$(tr '\n' ' ' <"$scratch/words")" = "probe --format jsonl --host node " ] || fail "what a node is asked: $(cat "$scratch/words")"
	# The Job's workers, one after the other, in a folder in place of its volume: their parts are the recording.
	cat >"$scratch/job.py" <<'END'
import os
import subprocess
import sys
import yaml

with open("packaging/kubernetes/perfabi-decode-job.yaml") as file:
    job, = yaml.safe_load_all(file)
assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
spec = job["spec"]
assert spec["completionMode"] == "Indexed" and spec["parallelism"] == spec["completions"]
pod = spec["template"]["spec"]
assert pod["restartPolicy"] in ("Never", "OnFailure")  # a Job has no other
worker, = pod["containers"]
mount, = worker["volumeMounts"]
assert mount["name"] in {volume["name"] for volume in pod["volumes"]}
script, = worker["args"]
for index in range(spec["completions"]):
    subprocess.run([*worker["command"], script.replace(mount["mountPath"], sys.argv[1])], check=True, env={**os.environ, "JOB_COMPLETION_INDEX": str(index)})
assert sorted(os.listdir(sys.argv[1])) == sorted(["perf.data", *(f"part-{i}.jsonl" for i in range(spec["completions"]))])
END
	mkdir "$scratch/recording"
	gzip -dc fixtures/recorded/callgraph.data.gz >"$scratch/recording/perf.data"
	PATH=$(dirname "$decode"):$PATH "$PYTHON" "$scratch/job.py" "$scratch/recording" || fail "packaging/kubernetes/perfabi-decode-job.yaml"
	"$decode" --flat --type sample --no-summary "$scratch/recording/perf.data" >"$scratch/whole"
	cat "$scratch"/recording/part-?.jsonl | cmp - "$scratch/whole" || fail "the parts of packaging/kubernetes/perfabi-decode-job.yaml"
	[ "$(wc -l <"$scratch/whole")" -gt 16 ] || fail "few lines"
else
	echo "no yaml in Python: the DaemonSet and the Job were not read"
fi
entry=$(sed -n 's/^CMD \[\(.*\)\]/\1/p' packaging/Containerfile)
[ "$entry" = '"probe"' ] || fail "what the container runs: $entry"
for line in $(sed -n 's/^COPY \(LICENSE\) .*/\1/p' packaging/Containerfile); do
	[ -f "$line" ] || fail "packaging/Containerfile copies $line"
done

# Alpine: a function for each part that asks for one.
sh -eu -c '
	pkgdir= builddir= subpkgdir=
	. packaging/APKBUILD
	for part in $subpackages; do
		case $part in
		*-cases*) command -v cases ;;
		esac
	done
	for each in build check package; do command -v $each; done
	[ "$source" = "perfabi-$pkgver.tar.gz" ]
' >/dev/null || fail "packaging/APKBUILD"

if command -v shellcheck >/dev/null; then
	shellcheck ci/debian ci/pack ci/release debian/tests/decode debian/tests/installed debian/tests/kernel debian/tests/library packaging/APKBUILD ||
		fail "shellcheck"
else
	echo "shellcheck is not there"
fi
if command -v yamllint >/dev/null; then
	yamllint -s -d '{extends: default, rules: {line-length: {max: 140}}}' packaging/kubernetes || fail "yamllint"
else
	echo "yamllint is not there"
fi
if command -v systemd-analyze >/dev/null; then
	mkdir "$scratch/units"
	for unit in packaging/systemd/*; do # the program and its man page are not installed here
		sed "s|/usr/bin/perfabi|$perfabi|; /^Documentation=man:/d" "$unit" >"$scratch/units/${unit##*/}"
	done
	status 0 systemd-analyze verify "$scratch"/units/perfabi-probe.service "$scratch"/units/perfabi-probe.timer
	if grep -v '/\(usr/\)\?lib/systemd/' "$scratch/err"; then fail "systemd-analyze verify"; fi
else
	echo "systemd-analyze is not there"
fi
if command -v rpmspec >/dev/null; then
	status 0 rpmspec -q --qf '%{name} %{version}\n' packaging/perfabi.spec
	[ "$(sort "$scratch/out" | tr '\n' ' ')" = "libperfabi-devel $version libperfabi0 $version perfabi $version perfabi-cases $version python3-perfabi $version " ] || { cat "$scratch/out"; fail "packaging/perfabi.spec"; }
else
	echo "rpmspec is not there"
fi

# The Debian packages, and nothing that lintian has to say.
for tool in dpkg-buildpackage dh lintian; do
	command -v $tool >/dev/null || { echo "left out: the Debian packages, for there is no $tool"; exit 0; }
done
dpkg-checkbuilddeps 2>"$scratch/err" || { echo "left out: the Debian packages; $(cat "$scratch/err")"; exit 0; }
if [ ! -e .git ] && [ ! -f MANIFEST ]; then
	echo "left out: the Debian packages, for neither .git nor MANIFEST tells which files belong to perfabi"
	exit 0
fi
unset MAKEFLAGS MAKELEVEL MFLAGS B PYTHON CFLAGS
ci/pack source "$version" "$scratch/perfabi-$version.tar.gz" >/dev/null
tar -xzf "$scratch/perfabi-$version.tar.gz" -C "$scratch"
(cd "$scratch/perfabi-$version" && dpkg-buildpackage -us -uc -b) >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log"; fail "dpkg-buildpackage"; }
lintian --allow-root --fail-on error,warning,info -I "$scratch"/*.changes >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "lintian"; }
# contents PACKAGE : its files, without the folders.
contents() { dpkg-deb -c "$scratch/$1"_*.deb | awk '$1 !~ /^d/ {print $6}'; }
contents libperfabi0 | grep -q '/libperfabi\.so\.0$' || fail "libperfabi0"
contents libperfabi-dev | grep -q '/perfabi\.pc$' || fail "libperfabi-dev"
contents python3-perfabi | grep -qxF ./usr/lib/python3/dist-packages/perfabi.py || fail "python3-perfabi"
for file in ./usr/bin/perfabi ./usr/bin/perfabi-decode ./usr/share/man/man1/perfabi.1.gz ./usr/share/zsh/vendor-completions/_perfabi \
	./usr/share/bash-completion/completions/perfabi ./usr/share/fish/vendor_completions.d/perfabi.fish; do
	contents perfabi | grep -qxF "$file" || fail "perfabi has no $file"
done
[ "$(contents perfabi-cases | grep -c '/cases/.*\.json$')" = "$(find cases -name '*.json' | wc -l)" ] || fail "perfabi-cases lacks cases"
