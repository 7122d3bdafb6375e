# SPDX-License-Identifier: MIT
"""What is recorded in a guest, so that it can become a fixture: decoded there and here, the lines must be the same.

Three jobs each: `perfabi capture`, perfabi-decode on what it wrote, and the bytes themselves.
"""

import json
import os

from .jobs import Job

# What `perfabi capture` runs: it execs, maps files, allocates and computes for a while.
WORK = 'fixtures/kernel-records.le.data'
# No period: with it a software event samples each time it happens, whatever sample_period is.
IDS = ['ip', 'tid', 'time', 'id', 'stream_id', 'cpu', 'identifier']


# The records that a recording is made for, as many as there are at least; of those without a line here it is SAMPLE.
HOLDS = {
    'side-band': ('MMAP2', 'COMM', 'EXIT'),
    'text-poke': ('TEXT_POKE',),
    'throttle': ('SAMPLE', 'THROTTLE', 'UNTHROTTLE'),
    'trace': ('ITRACE_START', 'AUX', 'AUXTRACE'),
    'aux-sample': ('SAMPLE',),
    'full-trace': ('AUX', 'AUXTRACE', 'AUX', 'AUXTRACE'),
    'made': ('SAMPLE', 'LOST_SAMPLES', 'AUX_OUTPUT_HW_ID'),
    'children': ('FORK', 'EXIT', 'COMM', 'MMAP2', 'SWITCH', 'NAMESPACES', 'CGROUP', 'KSYMBOL', 'BPF_EVENT'),
}


# Those that a kernel or a machine may have to refuse.
OPTIONAL = ('cycles', 'deferred', 'fields')


# Of the registers of an architecture, those that only some of its machines have; of MIPS k0 and k1, at which perf_reg_value() warns.
SOME_HAVE = {'arm64': 1 << 46, 'powerpc': -1 << 45, 'mips': 3 << 26}


def registers(top, machine, bits):
    """The names of the registers that every machine of an architecture has, as uname(2) calls it, with a kernel of so many bits."""
    with open(os.path.join(top, 'cases/abi/regs.json')) as file:
        arches = json.load(file)['regs']
    name, arch = next((name, arch) for name, arch in arches.items() if machine in arch['machines'])
    refused = int(arch.get('reserved', {}).get(str(bits), '0'), 16) | int(arch.get('extended', '0'), 16) | SOME_HAVE.get(name, 0)
    return [reg['name'] for reg in arch['regs'] if not refused >> reg['bit'] & 1]


# What happens to a PMU made of software while it is recorded; to be throttled an event must sample more than max_samples_per_tick.
MADE = ('perfabi_counter event=1 add=10 ip=0x401000 addr=0x7f0000001000 weight=7 data_src=0x68100142 txn=0x700000026 exact hw_idx=2'
        ' branch=0x401020:0x401100:0x1:0x5 branch=0x401110:0x401000:0x2:0x3',
        'perfabi_counter event=1 add=30 times=3 kernel skid=4', 'perfabi_counter event=1 add=10 by=irq lost=5',
        'perfabi_counter event=1 hw_id=0x1234567890')
MANY = ('perfabi_counter event=1 add=10200',)
TRACED = ('perfabi_aux aux=00112233445566778899aabbccddeeff', 'perfabi_counter event=1 add=10', 'perfabi_aux aux=0102030405060708 repeat=3', 'perfabi_counter event=1 add=10')
# More than an area of four pages, which turns the event off; once that is read, it goes on.
FULL = ('perfabi_aux aux=00112233445566778899aabbccddeeff repeat=20000', {'workload': 'sleep', 'ms': 1000}, 'perfabi_aux aux=0102030405060708')


def triggers(lines):
    """The file of a case in which these things happen, and a while is spent."""
    steps = [*(one if isinstance(one, dict) else {'trigger': one} for one in lines), {'workload': 'spin', 'ms': 30}]
    return json.dumps({'suite': 'record.triggers', 'about': 'what is recorded', 'spec': {'man': 'perf_event_open(2)'}, 'cases': [
        {'name': 'all', 'title': 'each happens', 'as': ['root'], 'machine': 'expendable', 'steps': steps}]}).encode()


def attrs(registers, is_x86, has_pmus, locked, version):
    """The recordings by name: what is opened, the options of `perfabi capture`, and what perfabi does meanwhile, if it is not to decode."""
    clock = {'type': 'software', 'config': 'cpu_clock', 'sample_period': 200000, 'disabled': 1, 'enable_on_exec': 1, 'sample_id_all': 1}
    dummy = {'type': 'software', 'config': 'dummy', 'sample_period': 1, 'sample_type': IDS, 'disabled': 1, 'enable_on_exec': 1, 'sample_id_all': 1}
    faults = {**clock, 'config': 'page_faults', 'sample_period': 4}
    cases = ['run', '--jobs', '1', 'ioctl.set-bpf.tracepoint', 'open.cgroup.new-cgroup']  # reading all cases takes many periods of a clock
    everything = {'mmap': 1, 'mmap2': 1, 'comm': 1, 'comm_exec': 1, 'task': 1, 'context_switch': 1, 'namespaces': 1, 'ksymbol': 1, 'bpf_event': 1, 'cgroup': 1}
    made = {'config': 1, 'sample_period': 10, 'inherit': 1, 'sample_id_all': 1, 'exclude_hv': 1, 'disabled': 1, 'enable_on_exec': 1}
    meanwhile = ['run', '--expendable']
    own = {}
    if is_x86:
        own['text-poke'] = ({**dummy, 'text_poke': 1, 'inherit': 1}, [], ['run', '--jobs', '1', 'count.software'])
    if has_pmus:
        own['made'] = ({**made, 'type': '$pmu.perfabi_counter', 'sample_type': [*IDS, 'addr', 'period', 'branch_stack', 'weight_struct' if version >= (5, 12) else 'weight', 'data_src', 'transaction'],
                        'branch_sample_type': ['user', 'any', 'hw_index', *(['counters'] if is_x86 and version >= (6, 8) else [])]}, [], [*meanwhile, '/recordings/made.json'])
        own['throttle'] = ({**made, 'type': '$pmu.perfabi_counter', 'sample_type': IDS}, [], [*meanwhile, '/recordings/many.json'])
        trace = {**made, 'type': '$pmu.perfabi_aux', 'config': 0, 'sample_period': 0, 'sample_type': IDS}
        own['trace'] = (trace, ['--aux-pages', '4'], [*meanwhile, '/recordings/traced.json'])
        own['full-trace'] = (trace, ['--aux-pages', '4'], [*meanwhile, '/recordings/full.json'])
        sampled = {**made, 'type': '$pmu.perfabi_counter', 'disabled': 0, 'enable_on_exec': 0, 'sample_type': [*IDS, 'aux'], 'aux_sample_size': 20}
        own['aux-sample'] = ([trace, sampled], ['--aux-pages', '4'], [*meanwhile, '/recordings/traced.json'])
    return own | {
        'registers': ({**clock, 'sample_period': 2000000, 'sample_type': [*IDS, 'period', 'callchain', 'regs_user', 'stack_user', *([] if locked else ['regs_intr'])],
                       'sample_regs_user': registers, 'sample_regs_intr': registers, 'sample_stack_user': 256}, [], cases),
        'user': ({**faults, 'exclude_kernel': 1, 'exclude_hv': 1, 'sample_type': [*IDS, 'addr', 'data_src', 'weight']}, []),
        'fields': ({**faults, 'exclude_kernel': 1, 'exclude_hv': 1, 'sample_type': [*IDS, 'weight_struct', 'transaction', 'cgroup', 'data_page_size', 'code_page_size']}, []),
        # More than its one page takes while nobody reads it.
        'lost': ({**faults, 'sample_period': 1, 'exclude_kernel': 1, 'exclude_hv': 1, 'sample_type': [*IDS, 'stack_user'], 'sample_stack_user': 1024}, ['--pages', '1']),
        'side-band': ({**dummy, 'mmap': 1, 'mmap_data': 1, 'mmap2': 1, 'comm': 1, 'comm_exec': 1, 'task': 1, 'context_switch': 1, 'namespaces': 1}, []),
        'children': ({**faults, **everything, 'sample_period': 5000, 'inherit': 1, 'inherit_stat': 1, 'sample_type': IDS,
                      'read_format': ['total_time_enabled', 'total_time_running', 'id']}, [], cases),
        'group': ([{**faults, 'sample_type': [*IDS, 'read'], 'read_format': ['total_time_enabled', 'total_time_running', 'id', 'group']},
                   {'type': 'software', 'config': 'task_clock', 'sample_type': [*IDS, 'read'],
                    'read_format': ['total_time_enabled', 'total_time_running', 'id', 'group']}], []),
        'ring': ({**faults, 'sample_type': [*IDS, 'addr', 'callchain']}, ['--raw', '--pages', '1']),
        'backward': ({**faults, 'sample_type': [*IDS, 'addr'], 'write_backward': 1}, ['--raw', '--pages', '1']),
        'cycles': ([{**clock, 'type': 'hardware', 'config': 'cpu_cycles', 'exclude_kernel': 1, 'exclude_hv': 1, 'sample_type': [*IDS, 'read', 'callchain'],
                     'read_format': ['total_time_enabled', 'total_time_running', 'id', 'group', 'lost']},
                    {'type': 'hardware', 'config': 'instructions', 'exclude_kernel': 1, 'exclude_hv': 1, 'sample_type': [*IDS, 'read', 'callchain'],
                     'read_format': ['total_time_enabled', 'total_time_running', 'id', 'group', 'lost']}], []),
        'deferred': ({**clock, 'sample_type': [*IDS, 'callchain'], 'defer_callchain': 1, 'defer_output': 1}, []),
    }


def record(name, arch, top, image, cell, release, bits):
    has_pmus = any('name=perfabi_counter ' in line for line in cell.get('pmus', ()))
    if has_pmus:
        image.file('recordings/made.json', triggers(MADE))
        image.file('recordings/many.json', triggers(MANY))
        image.file('recordings/traced.json', triggers(TRACED))
        image.file('recordings/full.json', triggers(FULL))
    version = tuple(int(part) for part in release.split('.')[:2])
    locked = 'lockdown=confidentiality' in cell.get('command-line', '')  # no registers at an interrupt, and no tracefs, which ioctl.set-bpf.tracepoint needs
    lacks = [*(('BPF_EVENT', 'KSYMBOL') if locked or 'BPF_' in cell.get('without', ()) else ()), *(('AUX_OUTPUT_HW_ID',) if version < (5, 16) else ())]
    for what, (attr, options, *command) in attrs(registers(top, arch['machine'], bits), arch['machine'] in ('x86_64', 'i686'), has_pmus, locked, version).items():
        if what == 'cycles' and 'hybrid' in cell:
            continue  # only one kind of core counts a plain hardware event, and it may be idle
        job = f'{name}.record.{what}'
        ring = '--raw' in options
        where, attr_file = f'/tmp/{what}.{"ring" if ring else "data"}', f'recordings/{what}.attr'
        text = json.dumps(attr, indent=1).encode() + b'\n'
        image.file(attr_file, text)
        yield Job(job, [f'/{name}/perfabi', 'capture', '--attr', '/' + attr_file, '--output', where, *options, '--',
                        *([f'/{name}/perfabi', *command[0]] if command else [f'/{name}/perfabi-decode', '/' + WORK])], kind='record', attr=text, holds=[one for one in HOLDS.get(what, ('SAMPLE',)) if one not in lacks], optional='without-perf' in cell or what in OPTIONAL)
        yield Job(f'{job}.lines', [f'/{name}/perfabi-decode', *(['--attr', '/' + attr_file] if ring else []), where], kind='lines')
        yield Job(f'{job}.bytes', ['cat', where], kind='bytes')
