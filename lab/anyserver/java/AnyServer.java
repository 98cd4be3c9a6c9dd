import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The service of lab/anyserver in Java: a poller hands connections that have something to
 * read to an executor's threads, which read, work and answer, as Tomcat's connector does.
 * See anyserver.go for what it is started with, and for the lines that it is told.
 */
public class AnyServer {
	static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();
	static final Object TABLE = new Object();
	static final AtomicBoolean LATCH = new AtomicBoolean(), STUCK = new AtomicBoolean();
	static final ThreadLocal<SocketChannel> BACKEND = new ThreadLocal<>();
	static final ArrayDeque<SocketChannel> IDLE = new ArrayDeque<>(); // the pool's lock too
	static final AtomicInteger CONNS = new AtomicInteger(), KEPT = new AtomicInteger();
	static final ByteBuffer PAGE = ByteBuffer.allocateDirect(4096);
	static final long STRIDE = 1_000_003;

	static int size;
	static String call, echo, refusal = "";
	static boolean names, needs;
	static int taken;
	static FileChannel journal;
	static Selector poller;
	static long served, sum;
	static volatile int work, wait, holdFor, holdEvery, churn, scratch, block, blockEvery, heavy, heavyEvery, grow, limit, pool;
	static final AtomicLong WORKED = new AtomicLong();
	static final Queue<byte[]> GROWN = new ConcurrentLinkedQueue<>();
	static ExecutorService workers;
	static volatile boolean locked, spinning, hanging, holdBusy;
	static Entry[] cache = new Entry[0];

	/** An entry of the cache; 16 bytes. */
	static final class Entry {
		int value;
	}

	public static void main(String[] args) throws Exception {
		size = Integer.parseInt(args[1]);
		workers = Executors.newFixedThreadPool(Integer.parseInt(args[2]));
		work = Integer.parseInt(args[3]);
		wait = Integer.parseInt(args[4]);
		int live = 0;
		for (int i = 6; i < args.length; i++) {
			String[] of = args[i].split("=", 2);
			switch (of[0]) {
			case "call" -> call = of[1];
			case "names" -> names = true;
			case "needs" -> needs = true;
			case "limit" -> limit = Integer.parseInt(of[1]);
			case "pool" -> pool = Integer.parseInt(of[1]);
			case "refusal" -> refusal = of[1];
			case "journal" -> journal = FileChannel.open(Path.of(of[1]), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
			case "echo" -> echo = "x".repeat(Integer.parseInt(of[1]) - 1);
			case "live" -> live = Integer.parseInt(of[1]);
			case "scratch" -> scratch = Integer.parseInt(of[1]);
			}
		}
		if (live > 0) {
			cache = new Entry[live];
			for (int i = 0, at = 0; i < live; i++) // as a cache is after a while: neighbours lie far apart
				cache[at = (int) ((at + STRIDE) % live)] = new Entry();
			daemon("refresher", AnyServer::refresh);
		}
		daemon("control", () -> listen(args[5]));
		daemon("deadline", () -> {
			sleep(300_000_000);
			System.exit(0);
		});
		ServerSocketChannel listener;
		if (args[0].startsWith("/")) {
			listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
			listener.bind(UnixDomainSocketAddress.of(args[0]), 1024);
		} else {
			listener = ServerSocketChannel.open();
			listener.bind(address(args[0]), 1024);
		}
		poller = Selector.open();
		daemon("acceptor", () -> accept(listener));
		System.out.println("ready");
		for (;;) {
			poller.select(key -> {
				key.interestOps(0); // until its request is answered
				workers.execute(() -> serve(key));
			}, 50);
		}
	}

	static void accept(ServerSocketChannel listener) throws Exception {
		boolean tcp = listener.getLocalAddress() instanceof InetSocketAddress;
		for (;;) {
			SocketChannel c = listener.accept();
			if (tcp)
				c.setOption(StandardSocketOptions.TCP_NODELAY, true);
			if (limit > 0 && CONNS.get() >= limit) {
				refuse(c);
				continue;
			}
			CONNS.incrementAndGet();
			c.configureBlocking(false);
			c.register(poller, SelectionKey.OP_READ, ByteBuffer.allocate(size));
			poller.wakeup();
		}
	}

	static void refuse(SocketChannel c) {
		try (c) {
			c.write(ByteBuffer.wrap(refusal.getBytes()));
		} catch (IOException gone) {
			// It is closed.
		}
	}

	static void serve(SelectionKey key) {
		SocketChannel c = (SocketChannel) key.channel();
		ByteBuffer buf = (ByteBuffer) key.attachment();
		try {
			if (c.read(buf) < 0)
				throw new IOException("the peer is gone");
			if (!buf.hasRemaining()) {
				handle();
				buf.flip();
				while (buf.hasRemaining())
					if (c.write(buf) == 0)
						sleep(200);
				buf.clear();
			}
			key.interestOps(SelectionKey.OP_READ);
			poller.wakeup();
		} catch (Exception e) {
			key.cancel();
			CONNS.decrementAndGet();
			try {
				c.close();
			} catch (IOException gone) {
				// It is closed.
			}
		}
	}

	static void handle() throws Exception {
		if (locked) {
			synchronized (TABLE) {
				served++;
				request();
			}
			return;
		}
		synchronized (TABLE) {
			served++;
		}
		if (!spinning) {
			request();
			return;
		}
		take(LATCH);
		try {
			request();
		} finally {
			LATCH.set(false);
		}
	}

	static void request() throws Exception {
		while (hanging)
			sleep(20_000);
		byte[][] parts = new byte[scratch / 4096][]; // as a handler does: many small objects
		for (int i = 0; i < parts.length; i++)
			parts[i] = new byte[4096];
		if (names)
			try {
				InetAddress.getAllByName("backend.example.");
			} catch (IOException unknown) {
				// The answer does without.
			}
		if (call != null)
			ask();
		if (grow > 0)
			GROWN.add(new byte[grow]);
		compute(work);
		int every = heavyEvery;
		if (every > 0 && WORKED.incrementAndGet() % every == 0)
			compute(heavy);
		sleep(wait);
		if (journal != null) {
			journal.write(PAGE.duplicate());
			journal.force(false);
		}
		if (echo != null)
			System.out.println(echo);
	}

	/** Takes a connection of the pool, as soon as one is free; null: it is yet to be opened. */
	static SocketChannel borrow() throws InterruptedException {
		synchronized (IDLE) {
			while (taken >= pool)
				IDLE.wait();
			taken++;
			return IDLE.poll();
		}
	}

	static void giveBack(SocketChannel c) throws IOException {
		synchronized (IDLE) {
			taken--;
			if (c != null)
				IDLE.push(c);
			trim();
			IDLE.notify();
		}
	}

	/** Closes what is more than the pool may have. */
	static void trim() throws IOException {
		while (!IDLE.isEmpty() && taken + IDLE.size() > pool)
			IDLE.pop().close();
	}

	/** Takes connections of the pool, and keeps them until it is told otherwise. */
	static void keepConns(int n, int mine) throws Exception {
		ArrayDeque<SocketChannel> has = new ArrayDeque<>();
		while (has.size() < n && KEPT.get() == mine) {
			SocketChannel c = borrow();
			has.push(c != null ? c : open());
		}
		while (KEPT.get() == mine)
			sleep(20_000);
		for (SocketChannel c : has)
			giveBack(c);
	}

	static SocketChannel open() throws IOException {
		SocketChannel c = SocketChannel.open(address(call));
		if (!call.startsWith("/"))
			c.setOption(StandardSocketOptions.TCP_NODELAY, true);
		return c;
	}

	/** Asks another service, on a connection of the pool or on the thread's own. */
	static void ask() throws Exception {
		boolean pooled = pool > 0;
		SocketChannel c = pooled ? borrow() : BACKEND.get();
		try {
			if (c == null)
				c = open();
			ByteBuffer buf = ByteBuffer.allocate(128);
			c.write(buf);
			buf.clear();
			while (buf.hasRemaining())
				if (c.read(buf) < 0)
					throw new IOException("it closed the connection");
		} catch (IOException e) {
			if (c != null)
				c.close();
			c = null;
		}
		if (pooled)
			giveBack(c);
		else
			BACKEND.set(c);
		if (c == null && needs)
			throw new IOException("no answer without the other service");
	}

	/** Computes for that much CPU time, in microseconds. */
	static void compute(int us) {
		if (us <= 0)
			return;
		for (long end = CPU.getCurrentThreadCpuTime() + us * 1000L; CPU.getCurrentThreadCpuTime() < end;) {
			long s = sum;
			for (int i = 0; i < 5000; i++)
				s = (s ^ i) * 0x9e3779b97f4a7c15L;
			sum = s;
		}
	}

	/** A lock as people write them: taken when nobody has it, and looked at until then. */
	static void take(AtomicBoolean latch) {
		while (!latch.compareAndSet(false, true)) {
			while (latch.get()) {
			}
		}
	}

	/** Housekeeping takes the lock that requests take for a moment, and keeps it for longer. */
	static void hold() {
		while (holdFor > 0) {
			synchronized (TABLE) {
				if (holdBusy)
					compute(holdFor);
				else
					sleep(holdFor);
			}
			sleep(holdEvery);
		}
	}

	/** A long task in a worker, again and again. */
	static void block() throws Exception {
		while (block > 0) {
			sleep(blockEvery);
			workers.submit(() -> compute(block)).get();
		}
	}

	/** Replaces entries of the cache: what is replaced is garbage of the old generation. */
	static void refresh() {
		for (int at = 0;;) {
			for (int i = churn / 100; i > 0; i--)
				cache[at = (int) ((at + STRIDE) % cache.length)] = new Entry();
			sleep(10_000);
		}
	}

	static void listen(String path) throws Exception {
		try (RandomAccessFile control = new RandomAccessFile(path, "rw")) {
			for (String line; (line = control.readLine()) != null;) {
				String[] w = line.split(" ");
				int n = Integer.parseInt(w[1]);
				switch (w[0]) {
				case "work" -> work = n;
				case "wait" -> wait = n;
				case "lock" -> locked = n > 0;
				case "spin" -> spinning = n > 0;
				case "hang" -> hanging = n > 0;
				case "churn" -> churn = n;
				case "scratch" -> scratch = n;
				case "grow" -> grow = n;
				case "die" -> Runtime.getRuntime().halt(n);
				case "heavy" -> {
					heavy = n;
					heavyEvery = n > 0 ? Integer.parseInt(w[2]) : 0;
				}
				case "block" -> {
					boolean was = block > 0;
					blockEvery = n > 0 ? Integer.parseInt(w[2]) : 0;
					block = n;
					if (!was && n > 0)
						daemon("scheduler", AnyServer::block);
				}
				case "limit" -> limit = n;
				case "pool" -> {
					synchronized (IDLE) {
						pool = n;
						trim();
						IDLE.notifyAll();
					}
				}
				case "keep" -> {
					int mine = KEPT.incrementAndGet();
					if (n > 0)
						daemon("keeper", () -> keepConns(n, mine));
				}
				case "hold" -> {
					boolean was = holdFor > 0;
					holdEvery = n > 0 ? Integer.parseInt(w[2]) : 0;
					holdBusy = n > 0 && w[3].equals("w");
					holdFor = n;
					if (!was && n > 0)
						daemon("housekeeper", AnyServer::hold);
				}
				case "stuck" -> {
					STUCK.set(n > 0); // and nobody gives it back until it is told to
					for (int i = 0; i < n; i++)
						daemon("seeker-" + i, () -> {
							take(STUCK);
							STUCK.set(false);
						});
				}
				}
			}
		}
	}

	static SocketAddress address(String at) {
		if (at.startsWith("/"))
			return UnixDomainSocketAddress.of(at);
		String[] of = at.split(":");
		return new InetSocketAddress(of[0], Integer.parseInt(of[1]));
	}

	static void sleep(int us) {
		try {
			if (us > 0)
				Thread.sleep(us / 1000, us % 1000 * 1000);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	/** What a thread does. */
	interface Task {
		void run() throws Exception;
	}

	static void daemon(String name, Task task) {
		Thread t = new Thread(() -> {
			try {
				task.run();
			} catch (Exception e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
		t.setDaemon(true);
		t.start();
	}
}
