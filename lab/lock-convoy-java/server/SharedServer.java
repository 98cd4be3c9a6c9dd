import java.io.DataInputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Answers requests of 128 bytes, a thread for each connection, each with the answer of a
 * backend: on one connection that all share under a monitor, or on one of the thread's own.
 * Beside that, threads may wait for work that never comes.
 *
 * SharedServer PORT shared|own|pool BACKEND-PORT IDLE-THREADS
 */
public class SharedServer {
	static final int SIZE = 128;

	/** A connection to the backend. */
	static final class Backend {
		final DataInputStream in;
		final OutputStream out;

		Backend(int port) throws Exception {
			Socket s = new Socket("127.0.0.1", port);
			s.setTcpNoDelay(true);
			in = new DataInputStream(s.getInputStream());
			out = s.getOutputStream();
		}

		/** The lock is held until the backend has answered. */
		synchronized void ask(byte[] buf) throws Exception {
			out.write(buf);
			in.readFully(buf);
		}
	}

	public static void main(String[] args) throws Exception {
		int port = Integer.parseInt(args[0]), backend = Integer.parseInt(args[2]);
		Backend shared = args[1].equals("shared") ? new Backend(backend) : null;
		ServerSocket listener = new ServerSocket(port, 128);
		LinkedBlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
		for (int i = 0; i < Integer.parseInt(args[3]); i++) {
			daemon("pool-" + i, () -> {
				for (;;) {
					work.take().run();
				}
			});
		}
		daemon("acceptor", () -> {
			for (int i = 0;; i++) {
				Socket s = listener.accept();
				s.setTcpNoDelay(true);
				daemon("handler-" + i, () -> serve(s, shared != null ? shared : new Backend(backend)));
			}
		});
		System.out.println("ready");
		Thread.sleep(300_000);
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
				// The client, or the backend, is gone.
			}
		}, name);
		t.setDaemon(true);
		t.start();
	}

	static void serve(Socket s, Backend backend) throws Exception {
		byte[] buf = new byte[SIZE];
		try (s) {
			DataInputStream in = new DataInputStream(s.getInputStream());
			OutputStream out = s.getOutputStream();
			for (;;) {
				in.readFully(buf);
				backend.ask(buf);
				out.write(buf);
			}
		}
	}
}
