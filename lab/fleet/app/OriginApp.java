import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;

/**
 * Answers HTTP requests, for each of which it computes and asks a database. While a file exists, all its threads stop
 * again and again for as many milliseconds as the file says: for a collection that waits for a loop without safepoints.
 *
 * OriginApp HOST PORT DATABASE-URL MICROSECONDS-OF-WORK BYTES FILE
 */
public class OriginApp {
	static volatile long kept;

	public static void main(String[] args) throws Exception {
		URI database = URI.create(args[2]);
		long work = Long.parseLong(args[3]) * 1000;
		byte[] body = new byte[Integer.parseInt(args[4])];
		HttpServer server = HttpServer.create(new InetSocketAddress(args[0], Integer.parseInt(args[1])), 128);
		server.setExecutor(Executors.newFixedThreadPool(24));
		server.createContext("/", exchange -> answer(exchange, database, work, body));
		server.start();
		System.out.println("ready");
		Path pauses = Path.of(args[5]);
		for (long until = System.nanoTime() + 300_000_000_000L; System.nanoTime() < until;) {
			Thread.sleep(200);
			if (Files.exists(pauses))
				pause(Long.parseLong(Files.readString(pauses).trim()));
		}
		System.exit(0);
	}

	static void answer(HttpExchange exchange, URI database, long work, byte[] body) {
		try (exchange) {
			HttpURLConnection asked = (HttpURLConnection) database.toURL().openConnection();
			try (InputStream in = asked.getInputStream()) {
				in.readAllBytes();
			}
			long x = 1;
			for (long until = System.nanoTime() + work; System.nanoTime() < until;)
				x = x * 6364136223846793005L + 1;
			kept = x;
			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
		} catch (Exception e) {
			// The client has gone, or the database has.
		}
	}

	static void pause(long milliseconds) throws Exception {
		for (int i = 0; i < 20; i++) // until the loop is compiled
			kept = count(5_000_000);
		Thread counts = new Thread(() -> kept = count(milliseconds * 1_000_000));
		counts.start();
		Thread.sleep(50); // it is well inside its loop
		System.gc();
		counts.join();
		Thread.sleep(1500);
	}

	/**
	 * Counts for so many nanoseconds, in a loop with a count, into which no safepoint is compiled. See PauseRelay of
	 * lab/server-stall-jvm.
	 */
	static long count(long ns) {
		long x = kept | 1, until = System.nanoTime() + ns;
		for (int i = 0; i < Integer.MAX_VALUE; i++) {
			x = (x * 6364136223846793005L + i) / 3;
			x = (x * 6364136223846793005L + i) / 5;
			x = (x * 6364136223846793005L + i) / 7;
			if ((i & 0xffff) == 0 && System.nanoTime() > until)
				break;
		}
		return x;
	}
}
