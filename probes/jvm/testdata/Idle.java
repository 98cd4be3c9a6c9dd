/** Does nothing. */
public class Idle {
	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		Thread.sleep(60_000);
	}
}
