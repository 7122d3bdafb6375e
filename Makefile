# SPDX-License-Identifier: MIT
# perfabi: see README.md. Everything built goes to build/ (build/asan with `make asan`).

comma := ,
B ?= build
PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
# Where python3 looks for modules below PREFIX, or Debian's does.
PYTHONDIR ?= $(or $(shell python3 -c 'import site; print(next(p for p in site.getsitepackages() if p.startswith("$(PREFIX)/lib/")))' 2>/dev/null),\
	$(PREFIX)/lib/python3/dist-packages)
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
NM ?= nm
VERSION := $(shell sed -n 's/^.define PERFABI_VERSION_TEXT "\(.*\)"/\1/p' decoder/include/perfabi.h)
SONAME = libperfabi.so.0
PYTHON ?= $(shell ci/python)

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

LIBS_PKG = jansson libzstd zlib liblzma
override LINK_STATIC := $(if $(STATIC),-static)
override PKG_FLAGS := $(if $(STATIC),--static)
LIB_CFLAGS = $(shell $(PKG_CONFIG) --cflags $(LIBS_PKG) 2>/dev/null)
LIB_LIBS = $(shell $(PKG_CONFIG) $(PKG_FLAGS) --libs $(LIBS_PKG) 2>/dev/null || echo -ljansson -lzstd -lz -llzma)

# libelf, which perfabi-decode --symbols reads files with, is used where it is there.
ELF_LIBS := $(if $(STATIC),,$(shell $(PKG_CONFIG) --libs libelf 2>/dev/null))
$B/decoder/symbols.o: private override ALL_CFLAGS += $(if $(ELF_LIBS),-DHAVE_LIBELF $(shell $(PKG_CONFIG) --cflags libelf))

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $(if $(DEV),-Werror)
# SANITIZE=1: ASan and UBSan; SANITIZE=thread: TSan.
SANITIZERS = $(if $(filter thread,$(SANITIZE)),thread,address$(comma)undefined)
HARDENING = $(if $(SANITIZE),-DSANITIZED -fsanitize=$(SANITIZERS) -fno-omit-frame-pointer -fno-sanitize-recover=undefined,\
	-D_FORTIFY_SOURCE=2 -fstack-protector-strong)
# No path of this machine gets into what is built: the same source gives the same bytes in every folder.
PREFIX_MAP = -ffile-prefix-map=$(CURDIR)=. $(if $(filter /%,$B),-ffile-prefix-map=$B=build)
override ALL_CFLAGS = -std=c11 -pthread -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Idecoder -Idecoder/include -Isrc $(WARNINGS) $(HARDENING) $(PREFIX_MAP) $(LIB_CFLAGS) $(CFLAGS) $(CPPFLAGS)
# The decoder's objects go into the shared library, too, which shows nothing but what perfabi.h declares.
PIC = -fPIC -fvisibility=hidden
override ALL_LDFLAGS = -pthread $(if $(SANITIZE),-fsanitize=$(SANITIZERS),-Wl$(comma)-z$(comma)relro$(comma)-z$(comma)now) -Wl$(comma)--build-id $(LINK_STATIC) $(LDFLAGS)

DECODER_SRC := $(sort $(filter-out decoder/main.c decoder/symbols.c,$(wildcard decoder/*.c decoder/*/*.c)))
SRC_SRC := $(sort $(filter-out src/main.c,$(wildcard src/*.c src/*/*.c src/*/*/*.c)))
TEST_SRC := $(sort $(wildcard tests/*.c))
ABI_JSON := $(sort $(wildcard cases/abi/*.json))
CASE_JSON := $(sort $(shell find cases -name '*.json' -not -path 'cases/abi/*' -not -path 'cases/schema/*'))

PAGE_FILES := src/page/page.html src/page/page.css src/page/page.js
SNIPPET_FILES := $(sort $(wildcard src/step/runtime/*.h src/translate/snippets/*.inc))
RECORD_FILES := decoder/html/record.html decoder/html/record.css decoder/html/record.js

DECODER_OBJ := $(DECODER_SRC:%.c=$B/%.o) $B/abi_prepared.o $B/record_builtin.o
SRC_OBJ := $(SRC_SRC:%.c=$B/%.o) $B/abi_builtin.o $B/cases_builtin.o $B/page_builtin.o $B/snippets_builtin.o
TEST_OBJ := $(TEST_SRC:%.c=$B/%.o)
COMPLETIONS := $B/completions/perfabi.bash $B/completions/_perfabi $B/completions/perfabi.fish

.PHONY: all run test test-all built-for-test coverage-abi setup setup-test setup-test-all install install-data install-lib install-python uninstall dist vendor-tarball release-tarball clean static asan tsan mutate faults lies matrix kernel-coverage kernel-mutants bench bench-hostile bench-view fuzz fuzz-afl schema fixtures-index reference site deviations format compile_commands.json FORCE
all: $B/perfabi $B/perfabi-decode $B/libperfabi.a $B/$(SONAME) $(COMPLETIONS)

# A line for each file made, so that warnings are seen; V=1 prints the commands whole, and `make -s` nothing.
Q = $(if $(V),,@)
brief = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-4s %s\n' $(1) $@)
# Whoever says no -j gets one for each cpu.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
BUILD = +@$(MAKE) --no-print-directory $(PARALLEL)

$B/perfabi: $B/src/main.o $(SRC_OBJ) $(DECODER_OBJ) $B/.flags
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB_LIBS)
$B/perfabi-decode: $B/decoder/main.o $B/decoder/symbols.o $(DECODER_OBJ) $B/.flags
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(LIB_LIBS) $(ELF_LIBS)
# One object with the API's names alone: what the decoder calls itself is nobody else's business. The names stand in
# decoder/libperfabi.map, for either library.
$B/libperfabi.names: decoder/libperfabi.map
	@mkdir -p $(@D)
	$(Q)sed -n 's/^	\(perfabi_[a-z_]*\);$$/\1/p' $< >$@
$B/libperfabi.a: $(DECODER_OBJ) $B/libperfabi.names $B/.flags
	@rm -f $@
	$(call brief,AR)
	$(Q)$(CC) -r -nostdlib -o $B/libperfabi.o $(filter %.o,$^)
	$(Q)$(OBJCOPY) --keep-global-symbols=$B/libperfabi.names $B/libperfabi.o
	$(Q)$(AR) rcsD $@ $B/libperfabi.o
$B/$(SONAME): $(DECODER_OBJ) decoder/libperfabi.map $B/.flags
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,decoder/libperfabi.map \
		$(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) -o $@ $(filter %.o,$^) $(LIB_LIBS)
# The same objects, with functions of tests/lies in the way of what they ask of the kernel.
LIES_OBJ := $(patsubst %.c,$B/%.o,$(sort $(wildcard tests/lies/*.c)))
$B/lies/perfabi: $B/src/main.o $(SRC_OBJ) $(DECODER_OBJ) $(LIES_OBJ) $B/.flags
	@mkdir -p $(@D)
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $$($(NM) $(LIES_OBJ) | sed -n 's/.* T __wrap_/-Wl,--wrap=/p') -o $@ $(filter %.o,$^) $(LIB_LIBS)
$B/unit: $(TEST_OBJ) $(filter-out $B/src/command/%,$(SRC_OBJ)) $(DECODER_OBJ) $B/.flags
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $$($(PKG_CONFIG) --libs check) $(LIB_LIBS)

$B/%.o: %.c $B/.flags
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(if $(filter decoder/%,$<),$(PIC)) $(if $(filter tests/%,$<),$$($(PKG_CONFIG) --cflags check)) -MMD -MP -c -o $@ $<
$B/%_builtin.o: $B/%_builtin.c decoder/text/source.h $B/.flags
	$(call brief,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(PIC) -c -o $@ $<

# The tables of cases/abi as C, written by a program that runs here, whatever machine the others are for.
HOSTCC ?= $(if $(filter-out $(shell $(CC) -dumpmachine 2>/dev/null),$(shell cc -dumpmachine 2>/dev/null)),cc,$(CC))
HOST_FLAGS = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Idecoder -Idecoder/include -pthread
PREPARE_SRC := ci/prepare.c $(filter decoder/abi/% decoder/plan/% decoder/text/% decoder/stream/events.c,$(DECODER_SRC))
$B/prepare: $(PREPARE_SRC) $(wildcard decoder/*/*.h)
	@mkdir -p $(@D)
	$(call brief,HOST)
	$(Q)$(HOSTCC) $(HOST_FLAGS) $(if $(filter $(HOSTCC),$(CC)),$(LIB_CFLAGS) $(CPPFLAGS)) -o $@ $(PREPARE_SRC) \
		$(if $(filter $(HOSTCC),$(CC)),$(LIB_LIBS) $(LDFLAGS),-ljansson)
$B/abi_prepared.c: $B/prepare $(ABI_JSON) $B/.abi-list
	$(call brief,JSON)
	$(Q)$B/prepare cases >$@
$B/abi_prepared.o: $B/abi_prepared.c $(wildcard decoder/*/*.h) $B/.flags
	$(call brief,CC)
	$(Q)$(CC) $(ALL_CFLAGS) $(PIC) -c -o $@ $<

# Preloaded into a program whose reads or allocations are to fail.
$B/tests/faults.so: tests/faults/faults.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -O2 -Wall -Wextra -shared -fPIC -o $@ $<

# Preloaded into perfabi: a kernel whose users may open nothing, one that has one answer to all, and a machine whose breakpoints never fire.
$B/tests/closed.so $B/tests/answer.so $B/tests/silent.so: $B/tests/%.so: tests/preload/%.c tests/preload/syscall.h
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -O2 -Wall -Wextra -shared -fPIC -o $@ $< -ldl

# Programs that use libperfabi as others do.
$B/tests/threads $B/tests/live_ring $B/tests/read $B/tests/view: $B/tests/%: $B/libperfabi.a decoder/include/perfabi.h $B/.flags
	@mkdir -p $(@D)
	$(call brief,LD)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(wildcard tests/library/$*.c tests/bench/$*.c) $B/libperfabi.a $(LIB_LIBS)
$B/tests/threads $B/tests/live_ring $B/tests/read: $B/tests/%: tests/library/%.c
$B/tests/view: tests/bench/view.c

# What libtraceevent reads in tracepoints' raw data, where it is installed.
TEP_ORACLE := $(if $(shell $(PKG_CONFIG) --exists libtraceevent 2>/dev/null && echo 1),$B/tests/oracle)
$B/tests/oracle: tests/tracepoints/oracle.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -O2 -Wall -Wextra $$($(PKG_CONFIG) --cflags libtraceevent) -o $@ $< $$($(PKG_CONFIG) --libs libtraceevent)

# Another user of perf, for the suite to run beside.
$B/tests/disturb: tests/disturb/disturb.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -O2 -Wall -Wextra -D_GNU_SOURCE -o $@ $<

# The texts of cases/ in the programs: the list of files decides too, so that one taken away counts.
$B/abi_builtin.c: $(ABI_JSON) ci/embed $B/.abi-list
	$(call brief,JSON)
	$(Q)ci/embed abi_builtin $(ABI_JSON) >$@
$B/cases_builtin.c: $(CASE_JSON) ci/embed $B/.case-list
	$(call brief,JSON)
	$(Q)ci/embed cases_builtin $(CASE_JSON) >$@
# And what the pages of `perfabi report` and `perfabi-decode --html` are made of.
$B/page_builtin.c: $(PAGE_FILES) ci/embed
	@mkdir -p $(@D)
	$(call brief,PAGE)
	$(Q)ci/embed page_builtin $(PAGE_FILES) >$@
# And the C that `perfabi show --c` takes from.
$B/snippets_builtin.c: $(SNIPPET_FILES) ci/embed
	@mkdir -p $(@D)
	$(call brief,C)
	$(Q)ci/embed snippets_builtin $(SNIPPET_FILES) >$@
$B/record_builtin.c: $(RECORD_FILES) ci/embed
	@mkdir -p $(@D)
	$(call brief,PAGE)
	$(Q)ci/embed record_builtin $(RECORD_FILES) >$@

# Stamps that change only when what they hold does.
stamp = @mkdir -p $B; printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
$B/.flags: FORCE
	@[ -e $B/perfabi ] || command -v $(firstword $(CC)) >/dev/null || \
		{ echo 'perfabi: there is no compiler $(firstword $(CC)); `ci/setup build` installs what is missing, and so does `make run`' >&2; exit 1; }
	$(call stamp,$(CC) $(ALL_CFLAGS) $(PIC) $(ALL_LDFLAGS) $(LIB_LIBS))
$B/.abi-list: FORCE
	$(call stamp,$(ABI_JSON))
$B/.case-list: FORCE
	$(call stamp,$(CASE_JSON))
FORCE:

-include $(wildcard $B/*/*.d $B/*/*/*.d $B/src/*/*/*.d)

# The two commands of the README.
run: setup
	$(BUILD) all
	@$B/perfabi run $(ARGS) || { status=$$?; [ $$status -eq 4 ] || exit $$status; } # 4: nothing could be judged, as it has said
test: setup-test
	$(BUILD) built-for-test
	PYTHON='$(PYTHON)' B='$B' tests/run-all $(ARGS)
# And what takes its time: sanitizers, packages, builds of other kinds, the suite in many surroundings.
test-all: setup-test-all
	$(BUILD) built-for-test $B/lies/perfabi asan tsan
	PYTHON='$(PYTHON)' B='$B' tests/run-all --all $(ARGS)
built-for-test: all $B/unit $(LIES_OBJ) $B/tests/faults.so $B/tests/answer.so $B/tests/closed.so $B/tests/silent.so $B/tests/disturb $B/tests/threads $B/tests/live_ring $B/tests/read $(TEP_ORACLE)

setup:
	@ci/setup build
setup-test:
	@ci/setup build test
setup-test-all:
	@ci/setup build test all

# Under sanitizers gcc sees what is not there: no -Werror.
asan:
	@$(MAKE) --no-print-directory DEV= B=$B/asan SANITIZE=1 $B/asan/perfabi $B/asan/perfabi-decode $B/asan/unit $B/asan/tests/threads
tsan:
	@$(MAKE) --no-print-directory DEV= B=$B/tsan SANITIZE=thread $B/tsan/perfabi-decode $B/tsan/tests/threads
static:
	@$(MAKE) --no-print-directory B=$B/static STATIC=1 $B/static/perfabi $B/static/perfabi-decode
# Every allocation, read and write of perfabi-decode fails in turn; `make test` tries a few hundred.
faults:
	$(BUILD) all $B/tests/faults.so $B/tests/read
	FAULT_STEP=1 PYTHON='$(PYTHON)' B='$B' sh tests/e2e/faults.sh
mutate:
	$(BUILD) all
	$B/perfabi mutate $(ARGS)
	ci/boundaries $B/perfabi

# A kernel that lies, in each way in turn; ARGS='-v "attr.*"' shows who noticed which.
lies:
	$(BUILD) $B/lies/perfabi
	tests/lies/run $B/lies/perfabi $(ARGS)

# Emulated machines with kernels of many versions and architectures: CELLS="arm64-6.12 s390x-*", ARGS=--quick.
matrix:
	ci/matrix run $(ARGS) $(CELLS)

# The kernel's own lines that the suite reaches; builds a kernel, in 20 minutes or more.
kernel-coverage:
	ci/kernel-coverage $(ARGS)

# The kernel's own decisions, broken one by one: which of them no case notices. It takes an hour or more.
kernel-mutants:
	ci/kernel-mutants $(ARGS)

# What of the ABI has cases, and what has a reason for none; ARGS=-v shows the ids.
coverage-abi:
	$(BUILD) all
	ci/coverage-abi $B/perfabi $(ARGS)

# Recordings that are made to cost much: time, memory and output are bounded.
bench-hostile: $B/perfabi-decode
	'$(PYTHON)' tests/bench/hostile.py $B/perfabi-decode $(ARGS)

# Fields against lines of libperfabi, of a recording: FILE=perf.data.
bench-view: $B/tests/view
	$B/tests/view $(FILE) $(BENCH_ROUNDS)

# perfabi-decode against perf and a copy loop; records its inputs to build/bench. Needs perf and root.
BENCH_ROUNDS ?= 5
bench: $B/perfabi-decode $B/bench/floor
	tests/bench/run $B/perfabi-decode $B/bench/floor $B/bench $(BENCH_ROUNDS)
$B/bench/floor: tests/bench/floor.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)$(CC) -O2 -o $@ $<

# The decoder under a fuzzer, from the fixtures on: `make fuzz FUZZ_SECONDS=3600`. New inputs stay in
# build/fuzz/corpus, crashes in build/fuzz. Needs clang; fuzz-afl needs AFL++.
FUZZ_SECONDS ?= 60
FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE -DSANITIZED -Idecoder -Idecoder/include -g -O1 -fno-omit-frame-pointer $(LIB_CFLAGS)
$B/fuzz/decode: tests/fuzz/decode.c $(DECODER_SRC) $B/abi_prepared.c $B/record_builtin.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)clang $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -pthread -o $@ $^ $(LIB_LIBS)
$B/fuzz/decode-afl: tests/fuzz/decode.c $(DECODER_SRC) $B/abi_prepared.c $B/record_builtin.c
	@mkdir -p $(@D)
	$(call brief,CC)
	$(Q)AFL_USE_ASAN=1 afl-clang-fast $(FUZZ_FLAGS) -fsanitize=fuzzer -pthread -o $@ $^ $(LIB_LIBS)
fuzz: $B/fuzz/decode
	tests/fuzz/seeds $B/fuzz/corpus
	cd $B/fuzz && ./decode -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=65536 -print_final_stats=1 corpus
fuzz-afl: $B/fuzz/decode-afl
	tests/fuzz/seeds $B/fuzz/seeds
	cd $B/fuzz && AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 \
		afl-fuzz -V $(FUZZ_SECONDS) -t 2000 -m none -i seeds -o afl -- ./decode-afl

# The files below cases/ as JSON Schema, for editors: what the program's rows say of them, and the names and values in them; a test says when one is out of date.
SCHEMAS = abi baseline case checks model phases probe step vehicles why
schema:
	$(BUILD) $B/perfabi
	ci/schema-names >cases/schema/names.schema.json
	for name in $(SCHEMAS); do $B/perfabi help $$name-schema >cases/schema/$$name.schema.json || exit; done

# The sums in fixtures/index.json and the tables in fixtures/README.md; a test says when they are out of date.
fixtures-index:
	'$(PYTHON)' ci/fixtures-index

# The man pages and docs/errata.md, from the programs' help, the cases and decoder/include/perfabi.h; a test says when one is out of date.
reference:
	$(BUILD) $B/perfabi $B/perfabi-decode
	ci/reference $B

# The documentation as HTML, with a search: $B/site/index.html. With it go the mails that tell of the kernel's bugs, and
# the program that shows each.
site: deviations
	ci/site $B/site $B/deviations
	@echo 'site: $B/site/index.html'

# Lists of files are lists of words: folders on the machine itself have no space in their names; DESTDIR may.
ifneq ($(words x$(PREFIX) x$(BINDIR) x$(LIBDIR) x$(INCLUDEDIR) x$(DATADIR) x$(MANDIR)),6)
$(error PREFIX, BINDIR, LIBDIR, INCLUDEDIR, DATADIR and MANDIR are one word each)
endif
# Where everything goes, for uninstall; tests/e2e/install.sh sees that install and uninstall agree.
CASE_FILES = $(sort $(shell find cases -name '*.json'))
INSTALLED_PROGRAMS = $(BINDIR)/perfabi $(BINDIR)/perfabi-decode
INSTALLED_LIBRARY = $(LIBDIR)/libperfabi.a $(LIBDIR)/libperfabi.so.$(VERSION) $(LIBDIR)/$(SONAME) $(LIBDIR)/libperfabi.so \
	$(INCLUDEDIR)/perfabi.h $(LIBDIR)/pkgconfig/perfabi.pc $(PYTHONDIR)/perfabi.py
MAN_PAGES := $(sort $(wildcard docs/man/man*/*.[1-9]))
man_place = $(MANDIR)/man$(patsubst .%,%,$(suffix $1))/$(notdir $1)
INSTALLED_DATA = $(foreach p,$(MAN_PAGES),$(call man_place,$p)) $(CASE_FILES:%=$(DATADIR)/perfabi/%) \
	$(foreach p,perfabi perfabi-decode,$(DATADIR)/bash-completion/completions/$p $(DATADIR)/fish/vendor_completions.d/$p.fish) \
	$(DATADIR)/zsh/site-functions/_perfabi

install: install-lib install-data
	$(BUILD) $B/perfabi $B/perfabi-decode
	install -D -m 755 $B/perfabi "$(DESTDIR)$(BINDIR)/perfabi"
	install -D -m 755 $B/perfabi-decode "$(DESTDIR)$(BINDIR)/perfabi-decode"
# What is the same on every machine.
install-data: $(COMPLETIONS)
	$(foreach p,$(MAN_PAGES),install -D -m 644 $p "$(DESTDIR)$(call man_place,$p)" &&) true
	install -D -m 644 $B/completions/perfabi.bash "$(DESTDIR)$(DATADIR)/bash-completion/completions/perfabi"
	ln -sf perfabi "$(DESTDIR)$(DATADIR)/bash-completion/completions/perfabi-decode"
	install -D -m 644 $B/completions/_perfabi "$(DESTDIR)$(DATADIR)/zsh/site-functions/_perfabi"
	install -D -m 644 $B/completions/perfabi.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/perfabi.fish"
	ln -sf perfabi.fish "$(DESTDIR)$(DATADIR)/fish/vendor_completions.d/perfabi-decode.fish"
	for file in $(CASE_FILES); do install -D -m 644 $$file "$(DESTDIR)$(DATADIR)/perfabi/$$file" || exit; done
install-python:
	install -D -m 644 decoder/python/perfabi.py "$(DESTDIR)$(PYTHONDIR)/perfabi.py"
install-lib: install-python
	$(BUILD) $B/libperfabi.a $B/$(SONAME)
	install -D -m 644 $B/libperfabi.a "$(DESTDIR)$(LIBDIR)/libperfabi.a"
	install -D -m 755 $B/$(SONAME) "$(DESTDIR)$(LIBDIR)/libperfabi.so.$(VERSION)"
	ln -sf libperfabi.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/$(SONAME)"
	ln -sf $(SONAME) "$(DESTDIR)$(LIBDIR)/libperfabi.so"
	install -D -m 644 decoder/include/perfabi.h "$(DESTDIR)$(INCLUDEDIR)/perfabi.h"
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|; s|@INCLUDEDIR@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(INCLUDEDIR))|; s|@VERSION@|$(VERSION)|' decoder/perfabi.pc.in >$B/perfabi.pc
	install -D -m 644 $B/perfabi.pc "$(DESTDIR)$(LIBDIR)/pkgconfig/perfabi.pc"
# Folders go where they are then empty, and no other package has them.
uninstall:
	rm -f $(foreach p,$(INSTALLED_PROGRAMS) $(INSTALLED_LIBRARY) $(INSTALLED_DATA),"$(DESTDIR)$p")
	rm -f "$(DESTDIR)$(PYTHONDIR)"/__pycache__/perfabi.*.pyc
	[ ! -d "$(DESTDIR)$(DATADIR)/perfabi" ] || find "$(DESTDIR)$(DATADIR)/perfabi" -depth -type d -empty -delete

# A shell's completion asks the programs themselves: options.awk, which becomes a part of each script, reads what their --help says.
$B/completions/%: completions/%.in completions/options.awk
	@mkdir -p $(@D)
	$(Q)sed -e '/@options.awk@/{r completions/options.awk' -e 'd;}' $< >$@

# Tarballs, in $B: the source; the cases and fixtures alone; static programs of ARCH, amd64 or arm64. Each has the same bytes
# whoever makes it, of the same files and with the same compiler and libraries.
dist:
	@mkdir -p $B
	@ci/pack source $(VERSION) $B/perfabi-$(VERSION).tar.gz
vendor-tarball:
	@mkdir -p $B
	@ci/pack cases $(VERSION) $B/perfabi-cases-$(VERSION).tar.gz
ARCH ?= amd64
deviations: all
	$(Q)$(PYTHON) ci/matrix mails --to $B/deviations
release-tarball: $(COMPLETIONS) deviations
	@PYTHON='$(PYTHON)' B='$B' ci/release $(ARCH) $(VERSION)

clean:
	rm -rf $B compile_commands.json

format:
	clang-format -i $$(git ls-files 'decoder/*.[ch]' 'src/*.[ch]' 'tests/*.[ch]')
compile_commands.json:
	@ci/compile-commands '$(CC) $(ALL_CFLAGS)' $(DECODER_SRC) decoder/main.c decoder/symbols.c $(SRC_SRC) src/main.c $(TEST_SRC) >$@
