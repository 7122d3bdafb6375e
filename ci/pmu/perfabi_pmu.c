// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs made of software, for machines that may be thrown away.
 *
 * A PMU is registered by a line written to the parameter "register", which names its counters,
 * their width and its capabilities, and unregistered by its name, written to "unregister".
 * What an event counts is in config, as the PMU's format directory in sysfs says:
 *
 *   event 1..0xfff   counts what is written to /dev/perfabi
 *   event 0x1000+n   counts one for each 2^n nanoseconds in which the event counts
 *
 * A line written to /dev/perfabi is something that happens to a PMU on the writer's cpu, and is
 * done when write(2) returns: which event counts how often, and what a sample shows that is due.
 * Two more parameters move a PMU's events to another cpu, and have events of the kernel's own.
 * docs/matrix.md has the words of these lines.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/irq_regs.h>
#include <asm/syscall.h>
#ifdef CONFIG_X86
#include <asm/perf_event.h>
#endif

#define SINCE(a, b) (KERNEL_VERSION(a, b, 0) <= LINUX_VERSION_CODE)
#if SINCE(6, 2) && !SINCE(6, 16)
#define TASKS_HAVE_DATA	/* where it is, is another place in each other kernel */
#endif

#define COUNTERS_MAX	16
#define BRANCHES_MAX	32
#define AUX_BYTES_MAX	256
#define FILTERS		4	/* of a PMU that has any */
#define FILTER_REFUSED	0xbad000	/* the offset of a filter that the PMU refuses */
#define CLOCK		0x1000	/* the first event that counts time */
#define SHORTEST	250000	/* nanoseconds between two looks at a clock: an emulator is slow */
#define OVERFLOWS_MAX	100000	/* of one trigger */

/* What drivers inside the kernel call, and no module can link with. */
static struct {
	int (*overflow)(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs);
	void (*itrace_started)(struct perf_event *event);
	void (*report_aux_output_id)(struct perf_event *event, u64 hw_id);
	void (*log_lost_samples)(struct perf_event *event, u64 lost);
	void (*sched_cb_inc)(struct pmu *pmu);
	void (*sched_cb_dec)(struct pmu *pmu);
	long (*output_copy_aux)(struct perf_output_handle *aux_handle,
				struct perf_output_handle *handle, unsigned long from,
				unsigned long to);
} kernel;

static const struct {
	const char *name;
	void **address;
} not_exported[] = {
	{ "perf_event_overflow", (void **)&kernel.overflow },
	{ "perf_event_itrace_started", (void **)&kernel.itrace_started },
#if SINCE(5, 16)
	{ "perf_report_aux_output_id", (void **)&kernel.report_aux_output_id },
#endif
	{ "perf_log_lost_samples", (void **)&kernel.log_lost_samples },
	{ "perf_sched_cb_inc", (void **)&kernel.sched_cb_inc },
	{ "perf_sched_cb_dec", (void **)&kernel.sched_cb_dec },
	{ "perf_output_copy_aux", (void **)&kernel.output_copy_aux },
};

struct soft_event;

struct branches {
	struct perf_branch_stack head;
	struct perf_branch_entry entries[BRANCHES_MAX];
	u64 cntr[BRANCHES_MAX];
	bool has_cntr;
};

/* What one cpu has of a PMU. */
struct soft_cpu {
	struct soft_event *slots[COUNTERS_MAX];
	struct soft_event *aux;		/* the event whose buffer is being filled */
	unsigned int txn;		/* flags of the transaction */
	bool off;			/* by pmu_disable() */
	struct branches branches;	/* of a clock's sample */
	struct soft_request *pending;	/* waits for its timer, or has; freed when the next comes */
};

struct soft_pmu {
	struct pmu pmu;
	struct list_head list;
	char name[32];
	unsigned int counters, width, max_precise;
	bool is_aux, is_hardware, has_branches, lbr, is_plain, keeps;
	struct cpumask cpus;		/* none: all of them */
	atomic_t events, mapped;
	u64 filters[FILTERS][2];	/* address and size, as the kernel gave them last */
	u64 branch_sample_type;		/* of the event that was opened last */
	unsigned int filter_count;
	struct soft_cpu __percpu *cpu;
};

struct soft_aux {
	unsigned int count;
	bool overwrite;
	void *pages[];
};

struct soft_event {
	struct perf_event *event;
	struct soft_pmu *pmu;
	int slot;			/* -1: on no counter */
	u32 code;
	u64 raw, prev, mask;		/* of the counter, width bits */
	u64 stamp, rest;		/* of a clock: since when, and nanoseconds not yet counted */
	bool runs;
	struct hrtimer timer;
	struct perf_output_handle handle;	/* of an AUX event */
	bool is_begun;
};

/* A line written to /dev/perfabi. */
struct soft_request {
	struct soft_pmu *pmu;
	u32 code;
	u64 add, times, skid, ip, addr, weight, data_src, txn, lost, hw_id, flags, repeat, keep;
	u64 skip;
	bool user, exact, has_ip, has_weight, has_data_src, has_txn, has_hw_id, is_aux, itrace;
	bool entered, bare, has_keep;
	bool by_irq, by_timer;
	u64 xmm[32];
	bool has_xmm;
	u64 regs[sizeof(struct pt_regs) / sizeof(u64)];
	u64 regs_set;			/* which words of pt_regs are in regs */
	struct branches branches;
	u8 aux[AUX_BYTES_MAX];
	size_t aux_length;
	struct irq_work work;
	struct hrtimer timer;
	int result;
};

static LIST_HEAD(pmus);
static DEFINE_MUTEX(pmus_lock);

/* The address of a function that is not exported: kprobes know where it begins. */
static void *address_of(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	void *address;

	if (register_kprobe(&probe))
		return NULL;
	address = probe.addr;
	unregister_kprobe(&probe);
#ifdef CONFIG_X86_KERNEL_IBT
	/* It may stand behind the ENDBR that a call must land on. */
	if (*(u32 *)(address - 4) == 0xfa1e0ff3)
		address -= 4;
#endif
	return address;
}

static void init_timer(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *))
{
#if SINCE(6, 15)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = function;
#endif
}

static struct soft_pmu *to_soft(struct pmu *pmu)
{
	return container_of(pmu, struct soft_pmu, pmu);
}

static struct soft_event *soft_of(struct perf_event *event)
{
	return event->pmu_private;
}

static bool is_clock(const struct soft_event *e)
{
	return e->code >= CLOCK;
}

/* Whether the task that runs here is in the kernel for itself: its system call, or its own work. */
static bool in_kernel(void)
{
	if (current->flags & PF_KTHREAD)
		return true;
	return syscall_get_nr(current, task_pt_regs(current)) >= 0;
}

static bool counts_mode(const struct perf_event *event, bool user)
{
	return !(user ? event->attr.exclude_user : event->attr.exclude_kernel);
}

/* Takes what the counter has counted into the event. */
static void soft_update(struct soft_event *e)
{
	u64 delta = (e->raw - e->prev) & e->mask;

	e->prev = e->raw;
	local64_add(delta, &e->event->count);
	local64_sub(delta, &e->event->hw.period_left);
}

/* Sets the counter so that it overflows when the period is over. */
static void soft_set_period(struct soft_event *e)
{
	struct hw_perf_event *hwc = &e->event->hw;
	s64 period = hwc->sample_period, left = local64_read(&hwc->period_left);

	if (left <= -period)
		left = period;
	else if (left <= 0)
		left += period;
	else
		goto set;
	local64_set(&hwc->period_left, left);
	hwc->last_period = period;
set:
	left = min_t(s64, left, e->mask >> 1);
	e->raw = e->prev = -left & e->mask;
	perf_event_update_userpage(e->event);
}

/* Says that the data has this field; kernels before 6.1 take what is there. */
static void filled(struct perf_sample_data *data, u64 field)
{
#if SINCE(6, 1)
	data->sample_flags |= field;
#endif
}

#ifdef TASKS_HAVE_DATA
/* What the PMU keeps of a task goes where the task goes. */
struct soft_task {
	u64 kept;
};

static struct soft_task *task_of(const struct soft_event *e)
{
	return e->pmu->keeps ? e->event->pmu_ctx->task_ctx_data : NULL;
}
#endif

/* The request's number, if it has one, for the task's data, which a sample shows as its weight. */
static void keep_in_task(struct soft_event *e, struct soft_request *r)
{
#ifdef TASKS_HAVE_DATA
	struct soft_task *task = task_of(e);

	if (!task)
		return;
	if (r->has_keep)
		task->kept = r->keep;
	r->weight = task->kept;
	r->has_weight = true;
#endif
}

static void fill_branches(struct soft_event *e, struct perf_sample_data *data,
			  struct branches *branches)
{
	if (!has_branch_stack(e->event))
		return;
#if SINCE(6, 8)
	/* What is not asked for would be written all the same. */
	perf_sample_save_brstack(data, e->event, &branches->head,
				 branches->has_cntr && branch_sample_counters(e->event) ?
				 branches->cntr : NULL);
#elif SINCE(6, 2)
	perf_sample_save_brstack(data, e->event, &branches->head);
#else
	data->br_stack = &branches->head;
	filled(data, PERF_SAMPLE_BRANCH_STACK);
#endif
}

static void fill_sample(struct soft_event *e, struct perf_sample_data *data, struct soft_request *r)
{
	if (r->has_weight) {
#if SINCE(5, 12)
		data->weight.full = r->weight;
		filled(data, PERF_SAMPLE_WEIGHT_TYPE);
#else
		data->weight = r->weight;
#endif
	}
	if (r->has_data_src) {
		data->data_src.val = r->data_src;
		filled(data, PERF_SAMPLE_DATA_SRC);
	}
	if (r->has_txn) {
		data->txn = r->txn;
		filled(data, PERF_SAMPLE_TRANSACTION);
	}
	if (r->addr)
		filled(data, PERF_SAMPLE_ADDR);
	fill_branches(e, data, &r->branches);
}

/* The registers of the kernel here: of what was interrupted, where an interrupt runs. */
static void take_regs(struct pt_regs *regs)
{
	const struct pt_regs *irq = get_irq_regs();

	memset(regs, 0, sizeof(*regs));
	if (irq)
		*regs = *irq;
	else
		perf_fetch_caller_regs(regs);
}

static void fill_regs(struct pt_regs *regs, const struct soft_request *r)
{
	u64 *words = (u64 *)regs;

	if (r->user && !r->entered && !(current->flags & PF_KTHREAD))
		*regs = *task_pt_regs(current);
	for (unsigned int i = 0; i < ARRAY_SIZE(r->regs); i++) {
		if (r->regs_set >> i & 1)
			words[i] = r->regs[i];
	}
	if (r->has_ip)
		instruction_pointer_set(regs, r->ip);
}

static void soft_stop(struct perf_event *event, int flags);

/* A period is over: a sample, with what the request, if any, says. True if the event goes on. */
static bool soft_overflow(struct soft_event *e, struct soft_request *r)
{
	struct branches *here = &this_cpu_ptr(e->pmu->cpu)->branches;
	struct perf_sample_data data;
#ifdef CONFIG_X86
	struct x86_perf_regs wide = {};	/* the kernel looks for XMM registers behind pt_regs */
	struct pt_regs *regs = &wide.regs;

	if (r && r->has_xmm)
		wide.xmm_regs = r->xmm;
#else
	struct pt_regs store, *regs = &store;
#endif
	take_regs(regs);
	perf_sample_data_init(&data, r ? r->addr : 0, e->event->hw.last_period);
	if (r) {
		fill_regs(regs, r);
		if (!r->bare)
			fill_sample(e, &data, r);
	} else {
		/* All that a clock knows of branches is where it stopped. */
		here->head = (struct perf_branch_stack){ .nr = 1, .hw_idx = -1ULL };
		here->entries[0].from = here->entries[0].to = instruction_pointer(regs);
		fill_branches(e, &data, here);
	}
#ifdef CONFIG_X86
	if (r ? r->exact : e->event->attr.precise_ip)
		regs->flags |= PERF_EFLAGS_EXACT;
#endif
	if (kernel.overflow(e->event, &data, regs))
		soft_stop(e->event, 0);
	return e->runs;
}

/* Counts n, and samples on the way; what is triggered while a plain PMU is off counts nothing. */
static int soft_count(struct soft_event *e, u64 n, struct soft_request *r)
{
	if (this_cpu_ptr(e->pmu->cpu)->off)
		return 0;
	for (unsigned int overflows = 0; n && e->runs;) {
		u64 room = e->mask + 1 - e->raw, skid;

		if (n < room) {
			e->raw += n;
			break;
		}
		n -= room;
		skid = min(r->skid, n);
		n -= skid;
		e->raw = skid;
		soft_update(e);
		soft_set_period(e);
		if (is_sampling_event(e->event) && !soft_overflow(e, r))
			break;
		if (++overflows > OVERFLOWS_MAX)
			return -E2BIG;
	}
	soft_update(e);
	return 0;
}

/* The counts since the last look: of all the time, or of none if the mode does not count. */
static u64 clock_take(struct soft_event *e, bool user)
{
	unsigned int shift = e->code - CLOCK;
	u64 now = local_clock(), passed = now - e->stamp;

	e->stamp = now;
	if (!counts_mode(e->event, user))
		return 0;
	e->rest += passed;
	passed = e->rest >> shift;
	e->rest &= (1ULL << shift) - 1;
	return passed;
}

/* The time from now to when the period could be over. */
static ktime_t clock_wait(struct soft_event *e)
{
	unsigned int shift = e->code - CLOCK;
	s64 left = min_t(u64, e->mask + 1 - e->raw, 1ULL << 40 >> shift);

	return ns_to_ktime(max_t(s64, (left << shift) - (s64)e->rest, SHORTEST));
}

/* The time that has passed, up to the counter's end; the timer takes it from there. */
static void clock_update(struct soft_event *e, bool user)
{
	u64 n = clock_take(e, user), room = e->mask - e->raw;

	if (n > room) {	/* the overflow is the timer's */
		e->rest += (n - room) << (e->code - CLOCK);
		n = room;
	}
	e->raw += n;
	soft_update(e);
}

static enum hrtimer_restart clock_tick(struct hrtimer *timer)
{
	struct soft_event *e = container_of(timer, struct soft_event, timer);
	struct pt_regs *regs = get_irq_regs();
	bool user = regs ? user_mode(regs) : false;
	bool overflows;
	u64 n;

	if (!e->runs)
		return HRTIMER_NORESTART;
	n = clock_take(e, user);
	overflows = n > e->mask - e->raw;
	e->raw = (e->raw + n) & e->mask;
	soft_update(e);
	if (overflows) {
		soft_set_period(e);
		if (is_sampling_event(e->event) && !soft_overflow(e, NULL))
			return HRTIMER_NORESTART;
	}
	hrtimer_set_expires(timer, ktime_add(ktime_get(), clock_wait(e)));
	return HRTIMER_RESTART;
}

static void clock_start(struct soft_event *e)
{
	e->stamp = local_clock();
	hrtimer_start(&e->timer, clock_wait(e), HRTIMER_MODE_REL_PINNED_HARD);
}

static bool aux_begin(struct soft_event *e)
{
	e->is_begun = perf_aux_output_begin(&e->handle, e->event);
	return e->is_begun;
}

static void aux_end(struct soft_event *e, unsigned long size)
{
	if (e->is_begun)
		perf_aux_output_end(&e->handle, size);
	e->is_begun = false;
}

/* Bytes into the buffer, which wraps. Returns how many fitted. */
static size_t aux_put(struct soft_event *e, const struct soft_request *r)
{
	struct soft_aux *aux = perf_get_aux(&e->handle);
	size_t size = (size_t)aux->count << PAGE_SHIFT, done = 0;
	size_t all = r->aux_length * r->repeat, room = aux->overwrite ? all : e->handle.size;

	for (; done < all && done < room; done++) {
		size_t at = (e->handle.head + done) & (size - 1);

		((u8 *)aux->pages[at >> PAGE_SHIFT])[at & ~PAGE_MASK] = r->aux[done % r->aux_length];
	}
	return done;
}

/* What an AUX event does with a request: writes bytes and tells of them. */
static int aux_trigger(struct soft_event *e, const struct soft_request *r)
{
	struct soft_aux *aux;
	size_t done = 0;

	if (r->itrace)
		kernel.itrace_started(e->event);
#if SINCE(5, 16)
	if (r->has_hw_id)
		kernel.report_aux_output_id(e->event, r->hw_id);
#endif
	if (!e->is_begun)
		return -ENODATA;
	if (!r->aux_length && !r->flags)
		return 0;
	aux = perf_get_aux(&e->handle);
	if (r->skip && perf_aux_output_skip(&e->handle, r->skip))
		return -ENOSPC;
	if (r->aux_length)
		done = aux_put(e, r);
	if (r->flags)
		perf_aux_output_flag(&e->handle, r->flags);
	if (done < r->aux_length * r->repeat)
		perf_aux_output_flag(&e->handle, PERF_AUX_FLAG_TRUNCATED);
	if (aux->overwrite)
		e->handle.head += done;
	aux_end(e, done);
	if (e->runs)
		aux_begin(e);
	return 0;
}

static void soft_start(struct perf_event *event, int flags)
{
	struct soft_event *e = soft_of(event);

#ifdef PERF_EF_RESUME
	if (flags & PERF_EF_RESUME) {
		if (e->slot >= 0 && !e->is_begun)
			aux_begin(e);
		return;
	}
#endif
	if (flags & PERF_EF_RELOAD)
		soft_update(e);
	event->hw.state = 0;
	if (e->pmu->is_aux) {
		perf_event_addr_filters_sync(event);
		if (!aux_begin(e)) {
			event->hw.state = PERF_HES_STOPPED;
			return;
		}
#ifdef PERF_EF_PAUSE
		if (event->hw.aux_paused)
			aux_end(e, 0);
#endif
		e->runs = true;
		return;
	}
	soft_set_period(e);
	e->runs = true;
	if (is_clock(e))
		clock_start(e);
}

static void soft_stop(struct perf_event *event, int flags)
{
	struct soft_event *e = soft_of(event);

#ifdef PERF_EF_PAUSE
	if (flags & PERF_EF_PAUSE) {
		aux_end(e, 0);
		return;
	}
#endif
	if (e->runs) {
		if (e->pmu->is_aux)
			aux_end(e, 0);
		else if (is_clock(e))
			clock_update(e, !in_kernel());
		else
			soft_update(e);
		e->runs = false;
		if (is_clock(e) && !e->pmu->is_aux)
			hrtimer_try_to_cancel(&e->timer);
	}
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static void soft_read(struct perf_event *event)
{
	struct soft_event *e = soft_of(event);

	if (!e->runs || e->pmu->is_aux)
		return;
	if (is_clock(e)) {
		/* Asked by an interrupt, it is the mode that was interrupted. */
		struct pt_regs *regs = get_irq_regs();

		clock_update(e, regs ? user_mode(regs) : !in_kernel());
	} else {
		soft_update(e);
	}
}

/* The errno that bits of config1 ask for, from bit `shift` on: 0 is none. */
static int chosen_errno(const struct perf_event *event, unsigned int shift)
{
	return -(int)(event->attr.config1 >> shift & 0xfff);
}

static unsigned long allowed_slots(const struct soft_event *e)
{
	u32 mask = e->event->attr.config2;

	return (mask ?: ~0U) & ((1UL << e->pmu->counters) - 1);
}

static int soft_add(struct perf_event *event, int flags)
{
	struct soft_event *e = soft_of(event);
	struct soft_cpu *cpu = this_cpu_ptr(e->pmu->cpu);
	unsigned long slots = allowed_slots(e);
	int i, refused = chosen_errno(event, 12);

	if (refused)
		return refused;
	for_each_set_bit(i, &slots, COUNTERS_MAX) {
		if (!cpu->slots[i])
			break;
	}
	if (i >= COUNTERS_MAX)
		return -EAGAIN;
	cpu->slots[i] = e;
	e->slot = event->hw.idx = i;
	if (e->pmu->is_aux)
		cpu->aux = e;
	if (e->pmu->lbr && has_branch_stack(event))
		kernel.sched_cb_inc(event->pmu);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START) {
		soft_start(event, PERF_EF_RELOAD);
		if (e->pmu->is_aux && !e->runs) {
			event->pmu->del(event, 0);
			return -EINVAL;
		}
	}
	perf_event_update_userpage(event);
	return 0;
}

static void soft_del(struct perf_event *event, int flags)
{
	struct soft_event *e = soft_of(event);
	struct soft_cpu *cpu = this_cpu_ptr(e->pmu->cpu);

	soft_stop(event, PERF_EF_UPDATE);
	if (e->slot >= 0)
		cpu->slots[e->slot] = NULL;
	if (cpu->aux == e)
		cpu->aux = NULL;
	e->slot = -1;
	event->hw.idx = -1;
	if (e->pmu->lbr && has_branch_stack(event))
		kernel.sched_cb_dec(event->pmu);
	perf_event_update_userpage(event);
}

static void soft_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct soft_cpu *cpu = this_cpu_ptr(to_soft(pmu)->cpu);

	cpu->txn = flags;
}

/* A group of which an event says so is refused as a whole, after each was accepted. */
static int soft_commit_txn(struct pmu *pmu)
{
	struct soft_cpu *cpu = this_cpu_ptr(to_soft(pmu)->cpu);
	bool fails = false;

	for (int i = 0; i < COUNTERS_MAX; i++) {
		if (cpu->slots[i])
			fails |= cpu->slots[i]->event->attr.config2 >> 32 & 1;
	}
	if ((cpu->txn & PERF_PMU_TXN_ADD) && fails)
		return -EAGAIN;
	cpu->txn = 0;
	return 0;
}

static void soft_cancel_txn(struct pmu *pmu)
{
	this_cpu_ptr(to_soft(pmu)->cpu)->txn = 0;
}

static int soft_event_idx(struct perf_event *event)
{
	return event->hw.idx + 1;
}

static void soft_mapped(struct perf_event *event, struct mm_struct *mm)
{
	atomic_inc(&to_soft(event->pmu)->mapped);
}

static void soft_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	atomic_dec(&to_soft(event->pmu)->mapped);
}

/* A driver with these and no transactions gets the kernel's, which are made of them. */
static void soft_enable(struct pmu *pmu)
{
	this_cpu_ptr(to_soft(pmu)->cpu)->off = false;
}

static void soft_disable(struct pmu *pmu)
{
	this_cpu_ptr(to_soft(pmu)->cpu)->off = true;
}

/* Sleeps for the milliseconds that bits of config2 of the PMU's own type ask for, from bit `shift` on. */
static void chosen_wait(const struct perf_event *event, unsigned int shift)
{
	unsigned int ms = event->attr.config2 >> shift & 0x3ff;

	if (ms && event->attr.type == event->pmu->type)
		msleep(ms);
}

/* The kernel asks with the context locked. */
static int soft_check_period(struct perf_event *event, u64 value)
{
	chosen_wait(event, 45);
	return chosen_errno(event, 24);
}

static int soft_aux_output_match(struct perf_event *event)
{
	/* Any event of ours goes into any AUX event of ours: the kernel asks the source's PMU. */
	return 1;
}

/* For all PMUs together: only an event of a task brings a context, which tells the PMU. */
static atomic_t switched_in, switched_out;

#ifdef SCHED_TASK_HAS_TASK
static void soft_sched_task(struct perf_event_pmu_context *context, struct task_struct *task,
			    bool sched_in)
#elif SINCE(6, 2)
static void soft_sched_task(struct perf_event_pmu_context *context, bool sched_in)
#else
static void soft_sched_task(struct perf_event_context *context, bool sched_in)
#endif
{
	atomic_inc(sched_in ? &switched_in : &switched_out);
}

static void *soft_setup_aux(struct perf_event *event, void **pages, int count, bool overwrite)
{
	struct soft_aux *aux;

	if (chosen_errno(event, 36))
		return NULL;
	aux = kzalloc(struct_size(aux, pages, count), GFP_KERNEL);
	if (!aux)
		return NULL;
	aux->count = count;
	aux->overwrite = overwrite;
	memcpy(aux->pages, pages, count * sizeof(*pages));
	return aux;
}

static void soft_free_aux(void *aux)
{
	kfree(aux);
}

/* The newest bytes of the buffer into another event's sample. */
static long soft_snapshot_aux(struct perf_event *event, struct perf_output_handle *handle,
			      unsigned long size)
{
	struct soft_event *e = soft_of(event);
	struct soft_aux *aux;
	unsigned long all;

	if (!e->is_begun)
		return 0;
	aux = perf_get_aux(&e->handle);
	all = (unsigned long)aux->count << PAGE_SHIFT;
	/* The kernel takes what is behind the buffer's end for the beginning. */
	if (size > e->handle.head && e->handle.head < all)
		size = e->handle.head;
	if (!size)
		return 0;
	return kernel.output_copy_aux(&e->handle, handle, e->handle.head - size, e->handle.head);
}

static int soft_filters_validate(struct list_head *filters)
{
	struct perf_addr_filter *filter;
	unsigned int count = 0;

	list_for_each_entry(filter, filters, entry) {
		if (++count > FILTERS || filter->offset == FILTER_REFUSED)
			return -EOPNOTSUPP;
	}
	return 0;
}

static void soft_filters_sync(struct perf_event *event)
{
	struct perf_addr_filters_head *head = perf_event_addr_filters(event);
	struct soft_pmu *soft = to_soft(event->pmu);
	struct perf_addr_filter *filter;
	unsigned int i = 0;

	list_for_each_entry(filter, &head->list, entry) {
		if (i == FILTERS)
			break;
		soft->filters[i][0] = event->addr_filter_ranges[i].start;
		soft->filters[i][1] = event->addr_filter_ranges[i].size;
		i++;
	}
	soft->filter_count = i;
}

static bool runs_on(const struct soft_pmu *soft, int cpu)
{
	return cpumask_empty(&soft->cpus) || cpumask_test_cpu(cpu, &soft->cpus);
}

#if SINCE(6, 2)
/* True keeps the event away from that cpu. */
static bool soft_filter(struct pmu *pmu, int cpu)
{
	return !runs_on(to_soft(pmu), cpu);
}
#else
static int soft_filter_match(struct perf_event *event)
{
	return runs_on(to_soft(event->pmu), smp_processor_id());
}
#endif

/* What the generic events count, in nanoseconds to the power of two; 0 is an event we lack. */
static int hardware_code(u64 config)
{
	static const u8 shifts[PERF_COUNT_HW_MAX] = {
		[PERF_COUNT_HW_CPU_CYCLES] = 1,
		[PERF_COUNT_HW_INSTRUCTIONS] = 1,
		[PERF_COUNT_HW_CACHE_REFERENCES] = 7,
		[PERF_COUNT_HW_CACHE_MISSES] = 11,
		[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = 3,
		[PERF_COUNT_HW_BRANCH_MISSES] = 9,
		[PERF_COUNT_HW_BUS_CYCLES] = 4,
		[PERF_COUNT_HW_REF_CPU_CYCLES] = 1,
	};

	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	return shifts[config] ? CLOCK + shifts[config] - 1 : -ENOENT;
}

static int cache_code(u64 config)
{
	u8 type = config, op = config >> 8, result = config >> 16;

	if (config >> 24 || type >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	if (op == PERF_COUNT_HW_CACHE_OP_PREFETCH)
		return -ENOENT;
	return CLOCK + (result == PERF_COUNT_HW_CACHE_RESULT_MISS ? 10 : 4);
}

/* What an event counts: `event` of config, or a negative errno. */
static int code_of(const struct soft_pmu *soft, const struct perf_event *event)
{
	u64 config = event->attr.config;

	if (event->attr.type == event->pmu->type) {
		if (config >> 16 || (config & 0xffff) > CLOCK + 20)
			return -EINVAL;
		return config;
	}
	if (!soft->is_hardware)
		return -ENOENT;
	config &= U32_MAX;
	if (event->attr.type == PERF_TYPE_HARDWARE)
		return hardware_code(config);
	if (event->attr.type == PERF_TYPE_HW_CACHE)
		return cache_code(config);
	return -ENOENT;
}

/* Whether the group would fit on the counters if nothing else ran. */
static bool group_fits(const struct soft_pmu *soft, const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int count = 1;

	if (leader == event)
		return true;
	count += leader->pmu == event->pmu;
	for_each_sibling_event(sibling, leader)
		count += sibling->pmu == event->pmu;
	return count <= soft->counters;
}

static void soft_destroy(struct perf_event *event)
{
	struct soft_event *e = soft_of(event);

	hrtimer_cancel(&e->timer);
	atomic_dec(&e->pmu->events);
	kfree(e);
}

static int soft_event_init(struct perf_event *event)
{
	struct soft_pmu *soft = to_soft(event->pmu);
	struct soft_event *e;
	int refused, code = code_of(soft, event);

	if (code < 0)
		return code;
	refused = chosen_errno(event, event->parent ? 48 : 0);
	if (event->attr.type == event->pmu->type && refused)
		return refused;
	if (!event->parent)
		chosen_wait(event, 35);
	if (event->cpu >= 0 && !runs_on(soft, event->cpu))
		return -ENOENT;
	if (event->attr.precise_ip > soft->max_precise)
		return -EOPNOTSUPP;
	if (event->attr.precise_ip && !is_sampling_event(event))
		return -EINVAL;
	if (has_branch_stack(event) && !soft->has_branches)
		return -EOPNOTSUPP;
#ifdef CONFIG_X86
	/* As x86's own: XMM registers are those of the interrupt, of a precise event. */
	if ((event->attr.sample_regs_user & PERF_REG_EXTENDED_MASK) ||
	    ((event->attr.sample_regs_intr & PERF_REG_EXTENDED_MASK) && !event->attr.precise_ip))
		return -EINVAL;
#endif
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	e->event = event;
	e->pmu = soft;
	e->slot = -1;
	e->code = code;
	e->mask = (1ULL << soft->width) - 1;
	init_timer(&e->timer, clock_tick);
	event->pmu_private = e;
	event->hw.idx = -1;
	if (!is_sampling_event(event)) {
		event->hw.sample_period = e->mask >> 1;
		event->hw.last_period = event->hw.sample_period;
		local64_set(&event->hw.period_left, event->hw.sample_period);
	}
	if (!group_fits(soft, event) || !allowed_slots(e)) {
		kfree(e);
		return -EINVAL;
	}
	if (event->attr.config2 >> 33 & 1)
		event->event_caps |= PERF_EV_CAP_SIBLING;
	if (event->attr.config2 >> 34 & 1)
		event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	if (soft->keeps)
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	soft->branch_sample_type = event->attr.branch_sample_type;
	atomic_inc(&soft->events);
	event->destroy = soft_destroy;
	return 0;
}

/* What a request does on this cpu, with interrupts off. */
static int request_do(struct soft_request *r)
{
	struct soft_cpu *cpu = this_cpu_ptr(r->pmu->cpu);
	int done = 0, result = 0;

	if (r->is_aux)
		return cpu->aux ? aux_trigger(cpu->aux, r) : -ENODATA;
	for (u64 n = 0; n < r->times && !result; n++) {
		for (int i = 0; i < COUNTERS_MAX && !result; i++) {
			struct soft_event *e = cpu->slots[i];

			if (!e || e->code != r->code || !e->runs || !counts_mode(e->event, r->user))
				continue;
			done++;
			keep_in_task(e, r);
			if (r->lost)
				kernel.log_lost_samples(e->event, r->lost);
#if SINCE(5, 16)
			if (r->has_hw_id)
				kernel.report_aux_output_id(e->event, r->hw_id);
#endif
			result = soft_count(e, r->add, r);
		}
	}
	return result;
}

static void request_by_irq(struct irq_work *work)
{
	struct soft_request *r = container_of(work, struct soft_request, work);

	r->result = request_do(r);
}

static enum hrtimer_restart request_by_timer(struct hrtimer *timer)
{
	request_do(container_of(timer, struct soft_request, timer));
	return HRTIMER_NORESTART;
}

static int request_later(struct soft_request *r)
{
	struct soft_cpu *cpu = get_cpu_ptr(r->pmu->cpu);
	struct soft_request *old = cpu->pending;

	if (old && hrtimer_active(&old->timer)) {
		put_cpu_ptr(r->pmu->cpu);
		return -EBUSY;
	}
	cpu->pending = r;
	init_timer(&r->timer, request_by_timer);
	hrtimer_start(&r->timer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_HARD);
	put_cpu_ptr(r->pmu->cpu);
	kfree(old);
	return 0;
}

struct word {
	const char *name;
	size_t at;
	size_t has;	/* a bool that says that it was given; 0: none */
};

#define NUMBER(name) { #name, offsetof(struct soft_request, name), 0 }
#define OPTIONAL(name) { #name, offsetof(struct soft_request, name),		\
			 offsetof(struct soft_request, has_##name) }
#define FLAG(name) { #name, 0, offsetof(struct soft_request, name) }
static const struct word words[] = {
	NUMBER(add), NUMBER(times), NUMBER(skid), NUMBER(addr), NUMBER(lost), NUMBER(repeat),
	NUMBER(flags), NUMBER(skip), OPTIONAL(ip), OPTIONAL(weight), OPTIONAL(data_src), OPTIONAL(txn),
	OPTIONAL(hw_id), OPTIONAL(keep), FLAG(exact), FLAG(itrace), FLAG(entered), FLAG(bare),
	{ "hw_idx", offsetof(struct soft_request, branches.head.hw_idx), 0 },
};

#define REG(name, member) { name, offsetof(struct pt_regs, member) / sizeof(u64) }
static const struct {
	const char *name;
	size_t word;
} registers[] = {
#ifdef CONFIG_X86
	REG("ax", ax), REG("bx", bx), REG("cx", cx), REG("dx", dx), REG("si", si), REG("di", di),
	REG("bp", bp), REG("sp", sp), REG("r8", r8), REG("r9", r9), REG("r10", r10),
	REG("r11", r11), REG("r12", r12), REG("r13", r13), REG("r14", r14), REG("r15", r15),
	REG("flags", flags),
#elif defined(CONFIG_ARM64)
	REG("x0", regs[0]), REG("x1", regs[1]), REG("x2", regs[2]), REG("x3", regs[3]),
	REG("x19", regs[19]), REG("x28", regs[28]), REG("x29", regs[29]), REG("lr", regs[30]),
	REG("sp", sp),
#endif
	{ NULL, 0 },
};

/* "FROM:TO:FLAGS[:COUNTER]", a branch of the stack, the newest first. */
static int parse_branch(struct soft_request *r, char *text)
{
	u64 values[4] = {}, n = r->branches.head.nr;
	struct perf_branch_entry *entry;
	unsigned int i = 0;
	char *part;

	if (n == BRANCHES_MAX)
		return -E2BIG;
	while ((part = strsep(&text, ":")) && i < 4) {
		if (kstrtoull(part, 0, &values[i++]))
			return -EINVAL;
	}
	if (values[2] >> 24)
		return -EINVAL;
	entry = &r->branches.entries[n];
	entry->from = values[0];
	entry->to = values[1];
	entry->mispred = values[2];
	entry->predicted = values[2] >> 1;
	entry->in_tx = values[2] >> 2;
	entry->abort = values[2] >> 3;
	entry->cycles = values[2] >> 4;
	entry->type = values[2] >> 20;
	r->branches.cntr[n] = values[3];
	r->branches.has_cntr |= i == 4;
	r->branches.head.nr++;
	return 0;
}

static int parse_aux(struct soft_request *r, const char *text)
{
	r->is_aux = true;
	r->aux_length = strlen(text) / 2;
	if (r->aux_length > AUX_BYTES_MAX)
		return -E2BIG;
	for (size_t i = 0; i < r->aux_length; i++) {
		const char digits[] = { text[2 * i], text[2 * i + 1], '\0' };

		if (kstrtou8(digits, 16, &r->aux[i]))
			return -EINVAL;
	}
	return 0;
}

static int parse_register(struct soft_request *r, char *text)
{
	char *name = strsep(&text, ":");
	u64 value;

	if (!text || kstrtoull(text, 0, &value))
		return -EINVAL;
	if (!strcmp(name, "xmm")) {
		for (int i = 0; i < ARRAY_SIZE(r->xmm); i++)
			r->xmm[i] = value + i;
		r->has_xmm = true;
		return 0;
	}
	for (int i = 0; registers[i].name; i++) {
		if (strcmp(registers[i].name, name))
			continue;
		r->regs[registers[i].word] = value;
		r->regs_set |= 1ULL << registers[i].word;
		return 0;
	}
	return -EINVAL;
}

static int parse_word(struct soft_request *r, char *text)
{
	char *name = strsep(&text, "=");
	u64 value;

	if (!strcmp(name, "user") || !strcmp(name, "kernel")) {
		r->user = *name == 'u';
		return 0;
	}
	if (!strcmp(name, "aux") && text)
		return parse_aux(r, text);
	if (!strcmp(name, "branch") && text)
		return parse_branch(r, text);
	if (!strcmp(name, "reg") && text)
		return parse_register(r, text);
	if (!strcmp(name, "by") && text) {
		r->by_irq = !strcmp(text, "irq");
		r->by_timer = !strcmp(text, "timer");
		return r->by_irq || r->by_timer ? 0 : -EINVAL;
	}
	if (!strcmp(name, "event") && text)
		return kstrtou32(text, 0, &r->code);
	for (int i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].name, name))
			continue;
		if (words[i].has)
			*(bool *)((u8 *)r + words[i].has) = true;
		if (!words[i].at)
			return text ? -EINVAL : 0;
		if (!text || kstrtoull(text, 0, &value))
			return -EINVAL;
		*(u64 *)((u8 *)r + words[i].at) = value;
		return 0;
	}
	return -EINVAL;
}

static int parse_request(struct soft_request *r, char *text)
{
	char *word;

	r->user = true;
	r->times = r->repeat = 1;
	r->branches.head.hw_idx = -1ULL;
	while ((word = strsep(&text, "\n "))) {
		int result = *word ? parse_word(r, word) : 0;

		if (result)
			return result;
	}
	if (r->itrace || r->flags)
		r->is_aux = true;
	if (r->add > 1ULL << 62 || r->times > 1 << 20 || r->repeat > 1 << 20)
		return -E2BIG;
	return 0;
}

/* Under pmus_lock, which keeps the PMU until the request is over. */
static int request_run(struct soft_request *r)
{
	unsigned long flags;
	int result;

	if (r->by_irq) {
		init_irq_work(&r->work, request_by_irq);
		irq_work_queue(&r->work);
		irq_work_sync(&r->work);
		return r->result;
	}
	local_irq_save(flags);
	result = request_do(r);
	local_irq_restore(flags);
	return result;
}

static struct soft_pmu *find_pmu(const char *name)
{
	struct soft_pmu *soft;

	list_for_each_entry(soft, &pmus, list) {
		if (!strcmp(soft->name, name))
			return soft;
	}
	return NULL;
}

/* A write to /dev/perfabi: the name of a PMU, and what happens to it. */
static ssize_t trigger_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct soft_request *r;
	char *text = memdup_user_nul(from, min_t(size_t, size, PAGE_SIZE)), *rest = text;
	int result = -ENOMEM;

	if (IS_ERR(text))
		return PTR_ERR(text);
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		goto out;
	mutex_lock(&pmus_lock);
	r->pmu = find_pmu(strsep(&rest, "\n "));
	result = r->pmu ? 0 : -ENODEV;
	if (!result && rest)
		result = parse_request(r, rest);
	if (!result && r->by_timer) {
		result = request_later(r);
		if (!result)
			r = NULL;
	} else if (!result) {
		result = request_run(r);
	}
	mutex_unlock(&pmus_lock);
out:
	kfree(text);
	kfree(r);
	return result ?: size;
}

static const struct file_operations trigger_operations = {
	.owner = THIS_MODULE,
	.write = trigger_write,
};

/* Anybody may write: a case need not be root, and the machine is not for keeps. */
static struct miscdevice trigger_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "perfabi",
	.fops = &trigger_operations,
	.mode = 0666,
};

/* The ranges that the kernel gave to the callback last: "ADDRESS:SIZE", in one line. */
static ssize_t filters_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct soft_pmu *soft = to_soft(dev_get_drvdata(dev));
	ssize_t length = 0;

	for (unsigned int i = 0; i < soft->filter_count; i++)
		length += sysfs_emit_at(buf, length, "%s%llu:%llu", i ? " " : "",
					soft->filters[i][0], soft->filters[i][1]);
	return length + sysfs_emit_at(buf, length, "\n");
}

static DEVICE_ATTR_RO(filters);

static ssize_t first_filter_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", to_soft(dev_get_drvdata(dev))->filters[0][0]);
}

static DEVICE_ATTR_RO(first_filter);

static ssize_t branch_sample_type_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", to_soft(dev_get_drvdata(dev))->branch_sample_type);
}

static DEVICE_ATTR_RO(branch_sample_type);

static ssize_t cpus_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%*pbl\n", cpumask_pr_args(&to_soft(dev_get_drvdata(dev))->cpus));
}

static DEVICE_ATTR_RO(cpus);

static ssize_t max_precise_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_soft(dev_get_drvdata(dev))->max_precise);
}

static DEVICE_ATTR_RO(max_precise);

static ssize_t mapped_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&to_soft(dev_get_drvdata(dev))->mapped));
}

static DEVICE_ATTR_RO(mapped);

static ssize_t switched_in_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&switched_in));
}

static DEVICE_ATTR_RO(switched_in);

static ssize_t switched_out_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&switched_out));
}

static DEVICE_ATTR_RO(switched_out);

PMU_FORMAT_ATTR(event, "config:0-15");
PMU_FORMAT_ATTR(errno_init, "config1:0-11");
PMU_FORMAT_ATTR(errno_add, "config1:12-23");
PMU_FORMAT_ATTR(errno_period, "config1:24-35");
PMU_FORMAT_ATTR(no_aux, "config1:36-47");
PMU_FORMAT_ATTR(errno_child, "config1:48-59");
PMU_FORMAT_ATTR(counter, "config2:0-31");
PMU_FORMAT_ATTR(no_commit, "config2:32");
PMU_FORMAT_ATTR(sibling, "config2:33");
PMU_FORMAT_ATTR(package, "config2:34");
PMU_FORMAT_ATTR(ms_init, "config2:35-44");
PMU_FORMAT_ATTR(ms_period, "config2:45-54");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr, &format_attr_errno_init.attr, &format_attr_errno_add.attr,
	&format_attr_errno_period.attr, &format_attr_no_aux.attr, &format_attr_counter.attr,
	&format_attr_errno_child.attr, &format_attr_no_commit.attr, &format_attr_sibling.attr,
	&format_attr_package.attr, &format_attr_ms_init.attr, &format_attr_ms_period.attr, NULL,
};

static struct attribute *caps_attrs[] = { &dev_attr_max_precise.attr, NULL };
static struct attribute *own_attrs[] = {
	&dev_attr_filters.attr, &dev_attr_first_filter.attr, &dev_attr_cpus.attr,
	&dev_attr_mapped.attr, &dev_attr_switched_in.attr, &dev_attr_switched_out.attr,
	&dev_attr_branch_sample_type.attr, NULL,
};

static umode_t own_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct pmu *pmu = dev_get_drvdata(kobj_to_dev(kobj));

	if (attr == &dev_attr_cpus.attr && (!pmu || cpumask_empty(&to_soft(pmu)->cpus)))
		return 0;
	return attr->mode;
}

static const struct attribute_group format_group = { .name = "format", .attrs = format_attrs };
static const struct attribute_group caps_group = { .name = "caps", .attrs = caps_attrs };
static const struct attribute_group own_group = { .attrs = own_attrs, .is_visible = own_visible };
static const struct attribute_group *groups[] = { &format_group, &caps_group, NULL };
static const struct attribute_group *updates[] = { &own_group, NULL };

static const struct {
	const char *name;
	int bit;
} capabilities[] = {
	{ "no_interrupt", PERF_PMU_CAP_NO_INTERRUPT },
	{ "no_nmi", PERF_PMU_CAP_NO_NMI },
	{ "aux_no_sg", PERF_PMU_CAP_AUX_NO_SG },
	{ "extended_regs", PERF_PMU_CAP_EXTENDED_REGS },
	{ "exclusive", PERF_PMU_CAP_EXCLUSIVE },
	{ "itrace", PERF_PMU_CAP_ITRACE },
	{ "no_exclude", PERF_PMU_CAP_NO_EXCLUDE },
	{ "aux_output", PERF_PMU_CAP_AUX_OUTPUT },
#ifdef PERF_PMU_CAP_EXTENDED_HW_TYPE
	{ "extended_hw", PERF_PMU_CAP_EXTENDED_HW_TYPE },
#endif
#ifndef PERF_PMU_CAP_AUX_PAUSE
#define PERF_PMU_CAP_AUX_PAUSE	0
#endif
	{ "aux_pause", PERF_PMU_CAP_AUX_PAUSE },
#ifdef PERF_PMU_CAP_AUX_PREFER_LARGE
	{ "aux_prefer_large", PERF_PMU_CAP_AUX_PREFER_LARGE },
#endif
#ifdef PERF_PMU_CAP_HETEROGENEOUS_CPUS
	{ "heterogeneous", PERF_PMU_CAP_HETEROGENEOUS_CPUS },
#endif
#ifdef PERF_PMU_CAP_MEDIATED_VPMU
	{ "mediated_vpmu", PERF_PMU_CAP_MEDIATED_VPMU },
#endif
};

static int parse_caps(struct soft_pmu *soft, char *text)
{
	char *name;

	while ((name = strsep(&text, ","))) {
		int i;

		for (i = 0; i < ARRAY_SIZE(capabilities); i++) {
			if (!strcmp(capabilities[i].name, name))
				break;
		}
		if (i == ARRAY_SIZE(capabilities))
			return -EINVAL;
		soft->pmu.capabilities |= capabilities[i].bit;
	}
	return 0;
}

static int parse_scope(struct soft_pmu *soft, const char *text)
{
#if SINCE(6, 12)
	static const char *const names[] = {
		[PERF_PMU_SCOPE_CORE] = "core", [PERF_PMU_SCOPE_DIE] = "die",
		[PERF_PMU_SCOPE_CLUSTER] = "cluster", [PERF_PMU_SCOPE_PKG] = "pkg",
		[PERF_PMU_SCOPE_SYS_WIDE] = "sys",
	};

	for (int i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i] && !strcmp(names[i], text)) {
			soft->pmu.scope = i;
			return 0;
		}
	}
#endif
	return -EINVAL;
}

static int parse_context(struct soft_pmu *soft, const char *text)
{
	if (!strcmp(text, "hw"))
		soft->pmu.task_ctx_nr = perf_hw_context;
	else if (!strcmp(text, "sw"))
		soft->pmu.task_ctx_nr = perf_sw_context;
	else if (!strcmp(text, "none"))
		soft->pmu.task_ctx_nr = perf_invalid_context;
	else
		return -EINVAL;
	return 0;
}

/* One word of "register"; `type` is the PMU's, -1 for one that the kernel chooses. */
static int parse_property(struct soft_pmu *soft, char *text, int *type)
{
	char *name = strsep(&text, "=");

	if (!text) {
		if (!strcmp(name, "aux"))
			soft->is_aux = true;
		else if (!strcmp(name, "hardware"))
			soft->is_hardware = true;
		else if (!strcmp(name, "branches"))
			soft->has_branches = true;
		else if (!strcmp(name, "filters"))
			soft->pmu.nr_addr_filters = FILTERS;
		else if (!strcmp(name, "lbr"))
			soft->has_branches = soft->lbr = true;
		else if (!strcmp(name, "plain"))
			soft->is_plain = true;
#ifdef TASKS_HAVE_DATA
		else if (!strcmp(name, "keeps"))
			soft->keeps = true;
#endif
		else
			return -EINVAL;
		return 0;
	}
	if (!strcmp(name, "name"))
		return strscpy(soft->name, text, sizeof(soft->name)) < 0 ? -E2BIG : 0;
	if (!strcmp(name, "type"))
		return kstrtoint(text, 0, type);
	if (!strcmp(name, "counters"))
		return kstrtouint(text, 0, &soft->counters);
	if (!strcmp(name, "width"))
		return kstrtouint(text, 0, &soft->width);
	if (!strcmp(name, "precise"))
		return kstrtouint(text, 0, &soft->max_precise);
	if (!strcmp(name, "mux_ms"))
		return kstrtoint(text, 0, &soft->pmu.hrtimer_interval_ms);
	if (!strcmp(name, "cpus"))
		return cpulist_parse(text, &soft->cpus);
	if (!strcmp(name, "caps"))
		return parse_caps(soft, text);
	if (!strcmp(name, "scope"))
		return parse_scope(soft, text);
	if (!strcmp(name, "context"))
		return parse_context(soft, text);
	return -EINVAL;
}

static int parse_pmu(struct soft_pmu *soft, char *text, int *type)
{
	char *word;

	soft->counters = 4;
	soft->width = 48;
	soft->pmu.task_ctx_nr = perf_hw_context;
	while ((word = strsep(&text, "\n "))) {
		int result = *word ? parse_property(soft, word, type) : 0;

		if (result)
			return result;
	}
	if (!soft->name[0] || !soft->counters || soft->counters > COUNTERS_MAX ||
	    soft->width < 16 || soft->width > 62)
		return -EINVAL;
	return 0;
}

static void set_callbacks(struct soft_pmu *soft)
{
	struct pmu *pmu = &soft->pmu;

	pmu->module = THIS_MODULE;
	pmu->attr_groups = groups;
	pmu->attr_update = updates;
	pmu->event_init = soft_event_init;
	pmu->add = soft_add;
	pmu->del = soft_del;
	pmu->start = soft_start;
	pmu->stop = soft_stop;
	pmu->read = soft_read;
	pmu->aux_output_match = soft_aux_output_match;
	pmu->sched_task = soft_sched_task;
#if SINCE(6, 2)
	pmu->filter = soft_filter;
#else
	pmu->filter_match = soft_filter_match;
	if (pmu->task_ctx_nr == perf_hw_context)	/* else only the first PMU may have it */
		pmu->capabilities |= PERF_PMU_CAP_HETEROGENEOUS_CPUS;
#endif
	if (soft->is_plain) {
		pmu->pmu_enable = soft_enable;
		pmu->pmu_disable = soft_disable;
		return;
	}
	pmu->event_mapped = soft_mapped;
	pmu->event_unmapped = soft_unmapped;
	pmu->check_period = soft_check_period;
	if (!soft->is_aux) {
		pmu->start_txn = soft_start_txn;
		pmu->commit_txn = soft_commit_txn;
		pmu->cancel_txn = soft_cancel_txn;
		pmu->event_idx = soft_event_idx;
		return;
	}
	pmu->setup_aux = soft_setup_aux;
	pmu->free_aux = soft_free_aux;
	pmu->snapshot_aux = soft_snapshot_aux;
	if (pmu->nr_addr_filters) {
		pmu->addr_filters_validate = soft_filters_validate;
		pmu->addr_filters_sync = soft_filters_sync;
	}
}

static void soft_free(struct soft_pmu *soft)
{
	rcu_barrier();	/* free_epc_rcu() asks the PMU */
	kmem_cache_destroy(soft->pmu.task_ctx_cache);
	free_percpu(soft->cpu);
	kfree(soft);
}

static int resolve(void)
{
	for (int i = 0; i < ARRAY_SIZE(not_exported); i++) {
		void **address = not_exported[i].address;

		if (!*address)
			*address = address_of(not_exported[i].name);
		if (!*address) {
			pr_err("this kernel has no %s\n", not_exported[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

static int register_set(const char *line, const struct kernel_param *param)
{
	struct soft_pmu *soft = kzalloc(sizeof(*soft), GFP_KERNEL);
	char *text = kstrdup(line, GFP_KERNEL);
	int type = -1, result = -ENOMEM;

	if (!soft || !text)
		goto fail;
	soft->cpu = alloc_percpu(struct soft_cpu);
	if (!soft->cpu)
		goto fail;
	result = resolve() ?: parse_pmu(soft, text, &type);
	if (result)
		goto fail;
	set_callbacks(soft);
#ifdef TASKS_HAVE_DATA
	result = -ENOMEM;
	if (soft->keeps) {
		soft->pmu.task_ctx_cache = KMEM_CACHE(soft_task, 0);
		if (!soft->pmu.task_ctx_cache)
			goto fail;
	}
#endif
	mutex_lock(&pmus_lock);
	result = perf_pmu_register(&soft->pmu, soft->name, type);
	if (!result)
		list_add_rcu(&soft->list, &pmus);
	mutex_unlock(&pmus_lock);
	if (result)
		goto fail;
	kfree(text);
	return 0;
fail:
	if (soft)
		soft_free(soft);
	kfree(text);
	return result;
}

/* Not while it has events, unless the kernel takes them away, as since 6.15 without event_unmapped(). */
static int soft_unregister(struct soft_pmu *soft)
{
#ifdef KERNEL_DETACHES_EVENTS
	return perf_pmu_unregister(&soft->pmu);
#else
	if (atomic_read(&soft->events))
		return -EBUSY;
	perf_pmu_unregister(&soft->pmu);
	return 0;
#endif
}

static void forget_requests(struct soft_pmu *soft)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct soft_request *r = per_cpu_ptr(soft->cpu, cpu)->pending;

		if (!r)
			continue;
		hrtimer_cancel(&r->timer);
		per_cpu_ptr(soft->cpu, cpu)->pending = NULL;
		kfree(r);
	}
}

static int unregister_set(const char *line, const struct kernel_param *param)
{
	struct soft_pmu *soft, *next;
	int result = -ENOENT;

	mutex_lock(&pmus_lock);
	list_for_each_entry_safe(soft, next, &pmus, list) {
		if (!sysfs_streq(soft->name, line))
			continue;
		result = soft_unregister(soft);
		if (result)
			break;
		forget_requests(soft);
		list_del_rcu(&soft->list);
		synchronize_rcu();	/* mode_changes() */
#if SINCE(6, 2)	/* before, the contexts of tasks still have it, and it stays */
		soft_free(soft);
#endif
		break;
	}
	mutex_unlock(&pmus_lock);
	return result;
}

static const struct kernel_param_ops register_ops = { .set = register_set };
static const struct kernel_param_ops unregister_ops = { .set = unregister_set };

/* Moves the events of a PMU that counts cpus: "NAME FROM TO", as an uncore driver's does when a cpu goes offline. */
static int migrate_set(const char *line, const struct kernel_param *param)
{
	int from, to, result = -ENOENT;
	struct soft_pmu *soft;
	char name[32];

	if (sscanf(line, "%31s %d %d", name, &from, &to) != 3 || from < 0 || to < 0)
		return -EINVAL;
	mutex_lock(&pmus_lock);
	cpus_read_lock();
	list_for_each_entry(soft, &pmus, list) {
		if (strcmp(soft->name, name))
			continue;
		result = -EINVAL;
		if (soft->pmu.task_ctx_nr != perf_invalid_context || from >= nr_cpu_ids ||
		    to >= nr_cpu_ids || !cpu_online(from) || !cpu_online(to))
			break;
		perf_pmu_migrate_context(&soft->pmu, from, to);
		result = 0;
		break;
	}
	cpus_read_unlock();
	mutex_unlock(&pmus_lock);
	return result;
}

/*
 * The kernel's own: a counter, as its watchdogs and KVM have them, and a breakpoint of all cpus,
 * as kgdb's. Each is gone when the next of its kind comes. Under pmus_lock.
 */
static struct {
	struct perf_event *counter;
	struct perf_event * __percpu *breakpoint;
	/* Since the newest of both was made: */
	u64 value;		/* of the last `read` or `pause` */
	atomic_t overflows;
	u32 watched;		/* by the breakpoint */
} own;

struct own_words {
	u64 type, config, period, times, pinned;
	int cpu;		/* -1: the writer's task */
};

static void own_overflow(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	atomic_inc(&own.overflows);
}

static void own_reset(void)
{
	own.value = 0;
	atomic_set(&own.overflows, 0);
}

static void own_close(void)
{
	if (own.counter)
		perf_event_release_kernel(own.counter);
	own.counter = NULL;
}

static int own_open(const struct own_words *w)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = w->type, .config = w->config,
		.sample_period = w->period, .pinned = !!w->pinned,
	};
	struct perf_event *event;

	own_close();
	event = perf_event_create_kernel_counter(&attr, w->cpu, w->cpu < 0 ? current : NULL,
						 own_overflow, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	own.counter = event;
	own_reset();
	return 0;
}

#ifdef CONFIG_X86	/* elsewhere the handler would have to step over the access itself */
static void own_unwatch(void)
{
	if (own.breakpoint)
		unregister_wide_hw_breakpoint(own.breakpoint);
	own.breakpoint = NULL;
}

static int own_watch(void)
{
	struct perf_event * __percpu *breakpoint;
	struct perf_event_attr attr;

	own_unwatch();
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&own.watched;
	attr.bp_len = HW_BREAKPOINT_LEN_4;
	attr.bp_type = HW_BREAKPOINT_W;
	breakpoint = register_wide_hw_breakpoint(&attr, own_overflow, NULL);
	if (IS_ERR((void __force *)breakpoint))
		return PTR_ERR((void __force *)breakpoint);
	own.breakpoint = breakpoint;
	own_reset();
	return 0;
}
#else
static void own_unwatch(void)
{
}

static int own_watch(void)
{
	return -EOPNOTSUPP;
}
#endif

static int own_do(const char *verb, const struct own_words *w)
{
	u64 enabled, running;

	if (!strcmp(verb, "open"))
		return own_open(w);
	if (!strcmp(verb, "watch"))
		return own_watch();
	if (!strcmp(verb, "touch")) {
		for (u64 i = 0; i < w->times; i++)
			WRITE_ONCE(own.watched, i);
		return 0;
	}
	if (!strcmp(verb, "unwatch")) {
		own_unwatch();
		return 0;
	}
	if (!own.counter)
		return -ENOENT;
	if (!strcmp(verb, "period"))
		return perf_event_period(own.counter, w->period);
	if (!strcmp(verb, "refresh"))
		return perf_event_refresh(own.counter, w->times);
	if (!strcmp(verb, "read"))
		own.value = perf_event_read_value(own.counter, &enabled, &running);
	else if (!strcmp(verb, "pause"))
		own.value = perf_event_pause(own.counter, true);
	else if (!strcmp(verb, "enable"))
		perf_event_enable(own.counter);
	else if (!strcmp(verb, "close"))
		own_close();
	else
		return -EINVAL;
	return 0;
}

static int own_set(const char *line, const struct kernel_param *param)
{
	char *text = kstrdup(line, GFP_KERNEL), *rest = text, *verb, *word;
	struct own_words w = { .times = 1, .cpu = -1 };
	int result = 0;

	if (!text)
		return -ENOMEM;
	verb = strsep(&rest, "\n ");
	while (!result && (word = strsep(&rest, "\n "))) {
		char *name = strsep(&word, "=");
		u64 *number = !strcmp(name, "type") ? &w.type : !strcmp(name, "config") ? &w.config :
			      !strcmp(name, "period") ? &w.period : !strcmp(name, "times") ? &w.times :
			      !strcmp(name, "pinned") ? &w.pinned : NULL;

		if (!*name)
			continue;
		result = !word ? -EINVAL : !strcmp(name, "cpu") ? kstrtoint(word, 0, &w.cpu) :
			 number ? kstrtoull(word, 0, number) : -EINVAL;
	}
	mutex_lock(&pmus_lock);
	result = result ?: own_do(verb, &w);
	mutex_unlock(&pmus_lock);
	kfree(text);
	return result;
}

static int own_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%llu %d\n", own.value, atomic_read(&own.overflows));
}

static const struct kernel_param_ops migrate_ops = { .set = migrate_set };
static const struct kernel_param_ops own_ops = { .set = own_set, .get = own_get };

module_param_cb(migrate, &migrate_ops, NULL, 0200);
MODULE_PARM_DESC(migrate, "NAME FROM TO: move the events of a PMU from one cpu to another");
module_param_cb(own, &own_ops, NULL, 0600);
MODULE_PARM_DESC(own, "what the kernel's own counter or breakpoint does; its value and overflows");
module_param_cb(register, &register_ops, NULL, 0200);
MODULE_PARM_DESC(register, "a PMU to register: name=NAME [counters=N] [width=BITS] [caps=...] ...");
module_param_cb(unregister, &unregister_ops, NULL, 0200);
MODULE_PARM_DESC(unregister, "the name of a PMU to unregister");

/* At the borders of system calls, what was counted so far belongs to the mode that ends. */
static void mode_changes(bool user)
{
	struct soft_pmu *soft;
	unsigned long flags;

	local_irq_save(flags);
	rcu_read_lock();
	list_for_each_entry_rcu(soft, &pmus, list) {
		struct soft_cpu *cpu = this_cpu_ptr(soft->cpu);

		for (int i = 0; i < COUNTERS_MAX; i++) {
			struct soft_event *e = cpu->slots[i];

			if (e && e->runs && is_clock(e) && !soft->is_aux &&
			    (e->event->attr.exclude_user || e->event->attr.exclude_kernel))
				clock_update(e, user);
		}
	}
	rcu_read_unlock();
	local_irq_restore(flags);
}

static void on_sys_enter(void *data, struct pt_regs *regs, long id)
{
	mode_changes(true);
}

static void on_sys_exit(void *data, struct pt_regs *regs, long result)
{
	mode_changes(false);
}

static struct tracepoint *sys_enter, *sys_exit;

static void find_tracepoint(struct tracepoint *point, void *data)
{
	if (!strcmp(point->name, "sys_enter"))
		sys_enter = point;
	if (!strcmp(point->name, "sys_exit"))
		sys_exit = point;
}

static int __init soft_init(void)
{
	int result;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!sys_enter || !sys_exit)
		return -ENOENT;
	result = resolve() ?: tracepoint_probe_register(sys_enter, on_sys_enter, NULL);
	if (result)
		return result;
	result = tracepoint_probe_register(sys_exit, on_sys_exit, NULL);
	if (result)
		goto no_exit;
	result = misc_register(&trigger_device);
	if (!result)
		return 0;
	tracepoint_probe_unregister(sys_exit, on_sys_exit, NULL);
no_exit:
	tracepoint_probe_unregister(sys_enter, on_sys_enter, NULL);
	tracepoint_synchronize_unregister();
	return result;
}

static void __exit soft_exit(void)
{
	struct soft_pmu *soft, *next;

	misc_deregister(&trigger_device);
	tracepoint_probe_unregister(sys_exit, on_sys_exit, NULL);
	tracepoint_probe_unregister(sys_enter, on_sys_enter, NULL);
	tracepoint_synchronize_unregister();
	own_close();
	own_unwatch();
	list_for_each_entry_safe(soft, next, &pmus, list) {
		forget_requests(soft);
		perf_pmu_unregister(&soft->pmu);
		soft_free(soft);
	}
}

module_init(soft_init);
module_exit(soft_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PMUs made of software, for tests of perf_event_open(2)");
