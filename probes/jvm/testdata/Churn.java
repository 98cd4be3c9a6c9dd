/** Holds a heap of small objects and collects it twice a second. */
public class Churn {
	public static void main(String[] args) throws Exception {
		Object[] keep = new Object[300_000];
		for (int i = 0; i < keep.length; i++)
			keep[i] = new Object[] {i};
		System.out.println("ready");
		for (;;) {
			System.gc();
			Thread.sleep(500);
		}
	}
}
