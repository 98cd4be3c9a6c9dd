import java.io.DataInputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * Answers requests, a thread for each connection, and beside that replaces entries of a
 * cache. What is replaced is garbage of the old generation: when that is full, the
 * collector stops the world for as long as the whole cache takes to be marked and moved.
 *
 * PauseServer PORT ENTRIES REPLACED-PER-SECOND [BYTES-PER-REQUEST]
 */
public class PauseServer {
	static final int SIZE = 128;
	static final long STRIDE = 1_000_003;
	/** What each request allocates, and lets go of when it is answered. */
	static int scratch = 0;

	/** An entry of the cache; 16 bytes. */
	static final class Entry {
		int value;
	}

	public static void main(String[] args) throws Exception {
		int port = Integer.parseInt(args[0]);
		Entry[] cache = new Entry[Integer.parseInt(args[1])];
		scratch = args.length > 3 ? Integer.parseInt(args[3]) : 0;
		int each = Integer.parseInt(args[2]) / 100;
		int at = 0;
		for (int i = 0; i < cache.length; i++) // as a cache is after a while: neighbours lie far apart
			cache[at = (int) ((at + STRIDE) % cache.length)] = new Entry();
		ServerSocket listener = new ServerSocket(port, 128);
		Thread accepts = new Thread(() -> accept(listener));
		accepts.setDaemon(true);
		accepts.start();
		System.out.println("ready");
		long until = System.nanoTime() + 300_000_000_000L;
		while (System.nanoTime() < until) {
			for (int i = 0; i < each; i++) {
				cache[at = (int) ((at + STRIDE) % cache.length)] = new Entry();
			}
			Thread.sleep(10);
		}
	}

	static void accept(ServerSocket listener) {
		try {
			for (;;) {
				Socket s = listener.accept();
				s.setTcpNoDelay(true);
				new Thread(() -> serve(s)).start();
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	static void serve(Socket s) {
		byte[] buf = new byte[SIZE];
		try (s) {
			DataInputStream in = new DataInputStream(s.getInputStream());
			OutputStream out = s.getOutputStream();
			for (;;) {
				in.readFully(buf);
				byte[][] parts = new byte[scratch / 4096][]; // as a handler does: many small objects
				for (int i = 0; i < parts.length; i++)
					parts[i] = new byte[4096];
				out.write(buf);
			}
		} catch (Exception e) {
			// The client is gone.
		}
	}
}
