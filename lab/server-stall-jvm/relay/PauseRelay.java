import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Passes connections on, two threads each. Beside that one thread counts in a loop
 * that has no safepoint inside of it, as long array copies and hot counted loops have
 * none: when another one asks for a collection meanwhile, all threads of the program
 * stand still until the loop is over.
 *
 * PauseRelay PORT TO-HOST TO-PORT MILLISECONDS-OF-LOOP (0: none)
 */
public class PauseRelay {
	static volatile long kept;

	public static void main(String[] args) throws Exception {
		String host = args[1];
		int to = Integer.parseInt(args[2]);
		long loop = Long.parseLong(args[3]);
		ServerSocket listener = new ServerSocket(Integer.parseInt(args[0]), 128);
		Thread accepts = new Thread(() -> accept(listener, host, to));
		accepts.setDaemon(true);
		accepts.start();
		System.out.println("ready");
		long until = System.nanoTime() + 300_000_000_000L;
		for (int i = 0; i < 20 && loop > 0; i++) // until the loop is compiled
			kept = count(20_000_000);
		while (System.nanoTime() < until) {
			Thread.sleep(3000);
			if (loop == 0)
				continue;
			Thread counts = new Thread(() -> kept = count(loop * 1_000_000));
			counts.start();
			Thread.sleep(50); // it is well inside its loop
			long begin = System.nanoTime();
			System.gc();
			System.out.println("paused for " + (System.nanoTime() - begin) / 1_000_000 + " ms");
			counts.join();
		}
	}

	/**
	 * Counts for so many nanoseconds, in a loop with a count, into which no safepoint is
	 * compiled. It must never come to its count: what was compiled would then be thrown
	 * away, and the next loop have safepoints.
	 */
	static long count(long ns) {
		long x = kept | 1, until = System.nanoTime() + ns;
		for (int i = 0; i < Integer.MAX_VALUE; i++) {
			x = (x * 6364136223846793005L + i) / 3; // a division is slow, and waits for the one before:
			x = (x * 6364136223846793005L + i) / 5; // three of them, two billion times, are 15 s and more
			x = (x * 6364136223846793005L + i) / 7;
			if ((i & 0xffff) == 0 && System.nanoTime() > until)
				break;
		}
		return x;
	}

	static void accept(ServerSocket listener, String host, int to) {
		try {
			for (;;) {
				Socket in = listener.accept();
				Socket out = new Socket(host, to);
				new Thread(() -> copy(in, out)).start();
				new Thread(() -> copy(out, in)).start();
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	static void copy(Socket from, Socket to) {
		byte[] buf = new byte[32768];
		try (from; to) {
			InputStream in = from.getInputStream();
			OutputStream out = to.getOutputStream();
			for (int n; (n = in.read(buf)) > 0;)
				out.write(buf, 0, n);
		} catch (Exception e) {
			// One of the ends is gone.
		}
	}
}
