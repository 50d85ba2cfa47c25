#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes PCIe errors.

	aer.py inject BDF uncorrectable correctable [TLP header]	through aer_inject
	aer.py storm N BDF correctable	N of them as fast as it goes
	aer.py paced N BDF correctable	each after the kernel has dealt with the one before
	aer.py firmware BDF severity uncorrectable correctable [TLP header]
					through the HEST source; severity 0 recoverable, 1 fatal, 2 corrected
	aer.py monitor COMMAND		to QEMU's monitor; prints what it says
	aer.py mask BDF [value]		the AER capability's mask of correctable errors
	aer.py clear BDF		its status of uncorrectable errors

A TLP header is four numbers.
"""
import errno, mmap, os, struct, sys, time

BLOCK = 0x3e001000

def words(args):
	return [int(a, 0) for a in args] + [0] * (4 - len(args))

def location(bdf):
	domain, bus, rest = bdf.split(':')
	dev, fn = rest.split('.')
	return int(domain, 16), int(bus, 16), int(dev, 16), int(fn)

def injection(bdf, uncor, cor, tlp):
	domain, bus, dev, fn = location(bdf)
	return struct.pack('<4B7I', bus, dev, fn, 0, uncor, cor, *tlp, domain)

def write(data, times=1):
	fd = os.open('/dev/aer_inject', os.O_WRONLY)
	while times:
		try:
			os.write(fd, data)
			times -= 1
		except OSError as e:
			if e.errno != errno.EBUSY:	# the interrupt of the one before has yet to come
				raise
			time.sleep(0.001)	# each attempt is a line in the kernel's log

def inject(bdf, uncor, cor, *tlp):
	write(injection(bdf, int(uncor, 0), int(cor, 0), words(tlp)))

def storm(n, bdf, cor):
	data = injection(bdf, 0, int(cor, 0), words([]))
	write(data, int(n))

def paced(n, bdf, cor):
	data = injection(bdf, 0, int(cor, 0), words([]))
	def errors():
		with open('/sys/bus/pci/devices/%s/aer_dev_correctable' % bdf) as f:
			return sum(int(line.split()[1]) for line in f if not line.startswith('TOTAL'))
	def is_clear():
		# twice: while aer_inject passes a read on, what is read beside it comes from the device, which has no error
		return not register(bdf, 0x10) and not register(bdf, 0x10)
	for _ in range(int(n)):
		before, again, deadline = errors(), time.time() + 20, time.time() + 60
		write(data)
		# counted, and the status cleared: what comes before that would be cleared with it
		while errors() == before or not is_clear():
			if time.time() > again:
				again = deadline
				if errors() == before:
					write(data)	# the emulated interrupt was lost on its way (seen once, on 6.1)
				else:	# the kernel cleared the device's own register while aer_inject passed a read of ours on
					register(bdf, 0x10, register(bdf, 0x10))
			if time.time() > deadline:
				sys.exit('paced: the kernel does not count it: counted %d, then %d, status %#x' %
					 (before, errors(), register(bdf, 0x10)))
			time.sleep(0.001)

def firmware(bdf, severity, uncor, cor, *tlp):
	severity = int(severity)
	domain, bus, dev, fn = location(bdf)
	base = '/sys/bus/pci/devices/' + bdf
	vendor, device = (int(open(base + '/' + f).read(), 16) for f in ('vendor', 'device'))
	aer = struct.pack('<14I', 0, int(uncor, 0), 0x11000000, 0, int(cor, 0), 0x2000 & ~int(cor, 0), 20, *words(tlp), 7, 0, 0)
	section = struct.pack('<QIIHHI', 0x8b, 0, 0x200, 0, 0, 0)	# valid: port type, version, device, AER
	section += struct.pack('<HH3BBBHBBHB', vendor, device, 0, 0, 0, fn, dev, domain, bus, 0, 0, 0)
	section += bytes(8 + 4 + 60) + aer.ljust(96, b'\0')
	guid = struct.pack('<IHH8B', 0xd995e954, 0xbbc1, 0x430f, 0xad, 0x91, 0xb4, 0x4d, 0xcb, 0x3c, 0x6f, 0x35)
	data = guid + struct.pack('<IHBBI', severity, 0x201, 0, 0, len(section)) + bytes(16 + 20) + section
	block = struct.pack('<IIIII', 0, 0, 0, len(data), severity) + data
	fd = os.open('/dev/mem', os.O_RDWR | os.O_SYNC)
	mem = mmap.mmap(fd, 4096, offset=BLOCK)
	mem[:len(block)] = block
	mem[:4] = struct.pack('<I', 0x12 if severity == 2 else 0x11)
	deadline = time.time() + 60
	while struct.unpack('<I', mem[:4])[0]:		# the kernel acknowledges what it has taken
		if time.time() > deadline:
			sys.exit('firmware: nobody polls')
		time.sleep(0.05)

def monitor(*command):
	port, = (p for p in os.listdir('/sys/class/virtio-ports')
		 if open('/sys/class/virtio-ports/%s/name' % p).read() == 'monitor\n')
	fd = os.open('/dev/' + port, os.O_RDWR | os.O_NONBLOCK)
	said, deadline = '', time.time() + 30
	try:
		while os.read(fd, 4096):	# what it has said before ends with a prompt, too
			pass
	except BlockingIOError:
		pass
	os.write(fd, (' '.join(command) + '\n').encode())
	while not said.rstrip(' ').endswith('\n(qemu)') and time.time() < deadline:
		time.sleep(0.1)
		try:
			said += os.read(fd, 4096).decode(errors='replace').replace('\r', '')
		except BlockingIOError:
			pass
	print(said)

def register(bdf, where, value=None):
	with open('/sys/bus/pci/devices/%s/config' % bdf, 'r+b', buffering=0) as f:
		aer = 0x100
		while True:
			f.seek(aer)
			head, = struct.unpack('<I', f.read(4))
			if head & 0xffff == 1:
				break
			aer = head >> 20
		f.seek(aer + where)
		if value is not None:
			f.write(struct.pack('<I', value))
			return value
		return struct.unpack('<I', f.read(4))[0]

def mask(bdf, value=None):
	value = register(bdf, 0x14, value and int(value, 0))
	print('%#x' % value)

def clear(bdf):
	register(bdf, 4, 0xffffffff)

globals()[sys.argv[1]](*sys.argv[2:])
