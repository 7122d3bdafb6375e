/* SPDX-License-Identifier: MIT */
/*
 * Symbol tables, sorted by address; of symbols at one address the one that perf prints
 * (tools/perf/util/symbol.c, choose_best_symbol()).
 */
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef HAVE_LIBELF
#include <gelf.h>
#endif

#include "text/say.h"
#include "text/table.h"
#include "text/json.h"

enum { IS_GLOBAL = 1, IS_STRONG = 2, IS_SIZED = 4 };

struct symbol {
	uint64_t address, end; /* end: where the next or the section does, if its size is 0 */
	const char *name;
	int rank; /* a sum of these; of symbols at one address, more is better */
};

struct file {
	bool is_read;
	struct symbol *list;
	size_t count, capacity;
	struct load {
		uint64_t offset, address, size;
	} * loads;
	size_t load_count, load_capacity;
};

struct symbols {
	struct table files, texts;
	struct arena arena;
};

struct symbols *symbols_new(void)
{
	return calloc(1, sizeof(struct symbols));
}

static int add_symbol(struct symbols *symbols, struct file *file, const struct symbol *symbol)
{
	const char *name =
		table_text(&symbols->texts, &symbols->arena, symbol->name, strlen(symbol->name));

	if (!name || list_grow(&file->list, file->count, &file->capacity, sizeof(*file->list)))
		return -ENOMEM;
	file->list[file->count] = *symbol;
	file->list[file->count++].name = name;
	return 0;
}

/* By address; of one address, the best first. */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t m = strlen(x->name), n = strlen(y->name);
	size_t u = strspn(x->name, "_"), v = strspn(y->name, "_");

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (u != v)
		return u < v ? -1 : 1;
	return m != n ? m > n ? -1 : 1 : strcmp(x->name, y->name);
}

static void sort_symbols(struct file *file)
{
	size_t kept = 0;

	if (file->count)
		qsort(file->list, file->count, sizeof(*file->list), compare_symbols);
	for (size_t i = 0; i < file->count; i++)
		if (!kept || file->list[kept - 1].address != file->list[i].address)
			file->list[kept++] = file->list[i];
	file->count = kept;
	for (size_t i = 0; i + 1 < kept; i++)
		if (!(file->list[i].rank & IS_SIZED) &&
		    (!file->list[i].end || file->list[i].end > file->list[i + 1].address))
			file->list[i].end = file->list[i + 1].address;
}

/* Whether a note of that kernel or file, `size` bytes, is the build ID. */
static bool has_build_id(const unsigned char *notes, size_t size, const char *build_id)
{
	char text[128 + PUT_SLACK];

	while (size >= 12) {
		uint32_t head[3], name_size, id_size;

		memcpy(head, notes, sizeof(head));
		name_size = (head[0] + 3) & ~3u;
		id_size = (head[1] + 3) & ~3u;
		if (head[0] > size || head[1] > size || 12 + name_size + id_size > size)
			return false;
		if (head[2] == 3 && head[0] == 4 && !memcmp(notes + 12, "GNU", 4) &&
		    head[1] <= 20) {
			*put_bytes(text, notes + 12 + name_size, head[1]) = '\0';
			return !strcmp(text, build_id);
		}
		notes += 12 + name_size + id_size;
		size -= 12 + name_size + id_size;
	}
	return false;
}

static void read_kallsyms(struct symbols *symbols, struct file *file, const char *build_id)
{
	unsigned char notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], type;
	uint64_t address;

	if (fd >= 0)
		close(fd);
	while (f && n > 0 && has_build_id(notes, (size_t)n, build_id) &&
	       fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %c %511s", &address, &type, name) == 3 && address &&
		    strchr("tTwW", type) && !strchr(line, '[') &&
		    add_symbol(symbols, file,
			       &(struct symbol){.address = address,
						.name = name,
						.rank = (type != 't') * IS_GLOBAL |
							(type != 'w' && type != 'W') * IS_STRONG}))
			break;
	if (f)
		fclose(f);
}

#ifdef HAVE_LIBELF
static bool is_wanted(Elf *elf, const char *build_id)
{
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr header;

	if (!build_id[0])
		return true;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    (data = elf_getdata(section, NULL)) &&
		    has_build_id(data->d_buf, data->d_size, build_id))
			return true;
	return false;
}

static int read_table(struct symbols *symbols, struct file *file, Elf *elf, GElf_Word type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, of;
	GElf_Sym symbol;
	int err = 0;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (!data || !gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		for (int i = 0; !err && gelf_getsym(data, i, &symbol); i++) {
			const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
			unsigned kind = GELF_ST_TYPE(symbol.st_info),
				 bind = GELF_ST_BIND(symbol.st_info);

			if (!name || !name[0] || symbol.st_shndx == SHN_UNDEF ||
			    (kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE) ||
			    !gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &of) ||
			    !(of.sh_flags & SHF_EXECINSTR))
				continue;
			err = add_symbol(
				symbols, file,
				&(struct symbol){.address = symbol.st_value,
						 .end = symbol.st_size
								? symbol.st_value + symbol.st_size
								: of.sh_addr + of.sh_size,
						 .name = name,
						 .rank = (bind == STB_GLOBAL) * IS_GLOBAL |
							 (bind != STB_WEAK) * IS_STRONG |
							 (symbol.st_size != 0) * IS_SIZED});
		}
	}
	return err;
}

static int read_loads(struct file *file, Elf *elf)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (list_grow(&file->loads, file->load_count, &file->load_capacity,
			      sizeof(*file->loads)))
			return -ENOMEM;
		file->loads[file->load_count++] =
			(struct load){header.p_offset, header.p_vaddr, header.p_filesz};
	}
	return 0;
}

/* Of a file the symbols and loads, or of its debug file the symbols, if the build ID is that. */
static void read_elf(struct symbols *symbols, struct file *file, const char *path,
		     const char *build_id, bool is_debug)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* the recording names it */
	struct stat st;
	Elf *elf = fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
				   elf_version(EV_CURRENT) == EV_NONE
			   ? NULL
			   : elf_begin(fd, ELF_C_READ, NULL);
	int err = 0;

	if (elf && elf_kind(elf) == ELF_K_ELF && is_wanted(elf, build_id)) {
		if (!is_debug)
			err = read_loads(file, elf);
		if (!err && !file->count)
			err = read_table(symbols, file, elf, SHT_SYMTAB);
		if (!err && !file->count && !is_debug)
			read_table(symbols, file, elf, SHT_DYNSYM);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}
#endif

static void read_symbols(struct symbols *symbols, struct file *file, const char *object,
			 const char *build_id)
{
	file->is_read = true;
	if (!strcmp(object, "[kernel.kallsyms]")) {
		read_kallsyms(symbols, file, build_id);
		if (!file->count)
			say(stderr, "perfabi-decode: the kernel's functions have no names: %s\n",
			    build_id[0] ? "another kernel runs, or /proc/kallsyms is hidden"
					: "the recording has no build ID of it, which perf record "
					  "--buildid-mmap writes");
#ifdef HAVE_LIBELF
	} else if (object[0] == '/') {
		char path[512];

		snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
			 strlen(build_id) > 2 ? build_id + 2 : "");
		if (build_id[0])
			read_elf(symbols, file, path, build_id, true);
		read_elf(symbols, file, object, build_id, false);
#endif
	}
	sort_symbols(file);
}

int symbols_find(void *context, const char *object, const char *build_id, uint64_t offset,
		 char *name, size_t size)
{
	struct symbols *symbols = context;
	char key[4096];
	int n = snprintf(key, sizeof(key), "%s %s", build_id, object);
	struct file *file =
		table_entry(&symbols->files, &symbols->arena, key,
			    n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1, sizeof(*file));
	size_t low = 0, high;

	if (file && !file->is_read)
		read_symbols(symbols, file, object, build_id);
	high = file ? file->count : 0;
	if (high && object[0] == '/') { /* what no segment has is at no address */
		const struct load *load = file->loads, *end = load + file->load_count;

		while (load < end && offset - load->offset >= load->size)
			load++;
		if (load == end)
			return 0;
		offset += load->address - load->offset;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->list[middle].address <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || (file->list[low - 1].end && file->list[low - 1].end <= offset))
		return 0;
	return snprintf(name, size, "%s", file->list[low - 1].name);
}
