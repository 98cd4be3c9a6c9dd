package gclog

import "testing"

// The lines are of JDK 6 to 8, as the test data of GCToolkit (github.com/microsoft/gctoolkit,
// MIT) and of GCViewer (github.com/chewiebug/GCViewer, LGPL 2.1) have them.
func TestLegacy(t *testing.T) {
	for _, c := range []struct {
		log  string
		want []string
	}{
		{"2014-04-09T15:26:52.201+0200: 0.384: Application time: 0.0016652 seconds\n" +
			"2014-04-09T15:26:52.201+0200: 0.384: [GC [1 CMS-initial-mark: 73765K(95616K)] 85022K(138624K), 0.0002081 secs] [Times: user=0.00 sys=0.00, real=0.00 secs] \n" +
			"2014-04-09T15:26:52.201+0200: 0.385: Total time for which application threads were stopped: 0.0003502 seconds\n" +
			"2014-04-09T15:26:52.211+0200: 0.395: [CMS-concurrent-mark: 0.010/0.012 secs] [Times: user=0.00 sys=0.00, real=0.01 secs] \n",
			[]string{
				`pause up 0.3840 at 2014-04-09T13:26:52.2010 took 208.1µs "GC" of "CMS" heap -1>87062528/141950976`,
				`safepoint up 0.3846 at 2014-04-09T13:26:52.2006 took 350.2µs "" of "CMS"`,
				`concurrent up 0.3830 at 2014-04-09T13:26:52.1990 took 12ms "CMS-concurrent-mark" of "CMS"`,
			}},
		{"2022-07-26T21:00:45.231+0800: 7.599: #2: [Full GC (System.gc()) [PSYoungGen: 98289K->0K(8257536K)] [ParOldGen: 32K->98112K(1048576K)] 98321K->98112K(9306112K), [Metaspace: 16471K->16471K(1064960K)], 0.6492397 secs] [Times: user=1.52 sys=0.17, real=0.65 secs] \n",
			[]string{`pause up 7.5990 at 2022-07-26T13:00:45.2310 took 649.2397ms "Full GC" cause "System.gc()" of "Parallel" heap 100680704>100466688/9529458688`}},
		{"2015-07-13T20:53:00.436+0200: 0.260: [GC (Allocation Failure) \nDesired survivor size 4194304 bytes, new threshold 7 (max 15)\n[PSYoungGen: 24571K->4081K(28672K)] 24571K->22186K(94208K), 0.0199218 secs] [Times: user=0.02 sys=0.02, real=0.02 secs]\n",
			[]string{`pause up 0.2600 at 2015-07-13T18:53:00.4360 took 19.9218ms "GC" cause "Allocation Failure" of "Parallel" heap 25160704>22718464/96468992`}},
		{"15.287: [Full GC15.287: [Tenured: 0K->4602K(174784K), 0.0371090 secs] 25253K->4602K(253440K), [Perm : 13657K->13657K(21248K)], 0.0373080 secs] [Times: user=0.03 sys=0.00, real=0.04 secs]\n",
			[]string{`pause up 15.2870 took 37.308ms "Full GC" of "Serial" heap 25859072>4712448/259522560`}},
		{"199626.435: [GC 199626.435: [ParNew: 812672K->812672K(914240K), 0.0000400 secs]199626.435: [CMS (concurrent mode failure): 1071394K->1081343K(1081344K), 6.8504740 secs] 1884066K->1092775K(1995584K), [CMS Perm : 99417K->99411K(524288K)], 6.8510440 secs] [Times: user=6.63 sys=0.02, real=6.85 secs]\n",
			[]string{`pause up 199626.4350 took 6.851044s "GC" of "CMS" heap 1929283584>1119001600/2043478016`}},
		{"2016-08-17T10:41:41.088-0500: 76388.020: [GC (Allocation Failure) 2016-08-17T10:41:41.088-0500: 76388.020: [ParNew (promotion failed): 428321K->431492K(471872K), 0.1049894 secs]2016-08-17T10:41:41.193-0500: 76388.125: [CMS: 466697K->186596K(524288K), 0.7357085 secs] 893715K->186596K(996160K), [Metaspace: 46524K->46524K(1097728K)] icms_dc=0 , 0.8408171 secs] [Times: user=0.91 sys=0.00, real=0.84 secs]\n",
			[]string{`pause up 76388.0200 at 2016-08-17T15:41:41.0880 took 840.8171ms "GC" cause "Allocation Failure" of "CMS" heap 915164160>191074304/1020067840`}},
		// a phase of CMS in between, and the failure on a line of its own
		{"2012-04-11T22:08:26.107-0700: 184.470: [GC 184.470: [ParNew (promotion failed): 306688K->306688K(306688K), 0.4081050 secs]184.878: [CMS2012-04-11T22:08:28.216-0700: 186.579: [CMS-concurrent-mark: 2.046/6.836 secs] [Times: user=9.21 sys=0.26, real=6.84 secs] \n" +
			" (concurrent mode failure): 4013566K->3996301K(4014080K), 129.9512460 secs] 4307165K->3996301K(4320768K), [CMS Perm : 174141K->173858K(290336K)], 130.3603290 secs] [Times: user=130.08 sys=0.31, real=130.36 secs] \n",
			[]string{`pause up 184.4700 at 2012-04-12T05:08:26.1070 took 2m10.360329s "GC" of "CMS" heap 4410536960>4092212224/4424466432`}},
		// free lists and sizes, printed in the middle of a collection
		{"1.500: [GC Before GC:\nStatistics for BinaryTreeDictionary:\n------------------------------------\nTotal Free Space: 53230\nMax   Chunk Size: 53230\nNumber of Blocks: 1\nAv.  Block  Size: 53230\nTree      Height: 1\n1.500: [ParNew: 17024K->1751K(19136K), 0.0218940 secs] 17024K->1751K(83008K)After GC:\nStatistics for BinaryTreeDictionary:\n------------------------------------\nTotal Free Space: 53230\n, 0.0220620 secs] [Times: user=0.04 sys=0.00, real=0.02 secs]\n",
			[]string{`pause up 1.5000 took 22.062ms "GC" of "CMS" heap 17432576>1793024/85000192`}},
		{"2.000: [GC (Allocation Failure) AdaptiveSizeStart: 2.020 collection: 1 \navg_survived_padded_avg: 4191304.000000  avg_promoted_padded_avg: 24576.000000  avg_pretenured_padded_avg: 0.000000  tenuring_thresh: 7  target_size: 10485760\nAdaptiveSizeStop: collection: 1 \n[PSYoungGen: 65536K->4093K(76288K)] 65536K->4117K(251392K), 0.0207370 secs] [Times: user=0.05 sys=0.01, real=0.02 secs]\n",
			[]string{`pause up 2.0000 took 20.737ms "GC" cause "Allocation Failure" of "Parallel" heap 67108864>4215808/257425408`}},
		// the rest of a collection on a line that is indented
		{"0.175: [GCAdaptiveSizePolicy::compute_survivor_space_size_and_thresh:  survived: 2721008  overflow: trueAdaptiveSizeStart: 0.186 collection: 1 \nPSAdaptiveSizePolicy::compute_generation_free_space: costs minor_time: 0.059538 major_cost: 0.000000\nAdaptiveSizePolicy::survivor space sizes: collection: 1 (2752512, 2752512) -> (2752512, 2752512) \nAdaptiveSizeStop: collection: 1 \n [PSYoungGen: 16384K->2560K(19456K)] 16384K->15872K(62464K), 0.0109211 secs] [Times: user=0.00 sys=0.00, real=0.01 secs] \n",
			[]string{`pause up 0.1750 took 10.9211ms "GC" of "Parallel" heap 16777216>16252928/63963136`}},
		{"0.153: [GCAdaptiveSizePolicy::old generation size: collection: 1 (4194304) -> (8781824) \nAdaptiveSizePolicy::survivor space sizes: collection: 1 (524288, 524288) -> (1441792, 524288) filler object size: 0\n 3072K->1024K(13312K), 0.0077290 secs]\n",
			[]string{`pause up 0.1530 took 7.729ms "GC" heap 3145728>1048576/13631488`}},
		{"28.395: [GC pause (young)\nDesired survivor size 524288 bytes, new threshold 1 (max 15)\n- age   1:    5081520 bytes,    5081520 total\n (to-space exhausted), 0.0279974 secs]\n   [Parallel Time: 2.0 ms, GC Workers: 4]\n",
			[]string{`pause up 28.3950 took 27.9974ms "GC pause (young)" of "G1"`}},
		// a young collection inside of a remark, and what PrintHeapAtGC puts there
		{"2015-05-14T18:55:12.588+0200: 1.157: [GC (CMS Final Remark) [YG occupancy: 10451 K (47936 K)]{Heap before GC invocations=22 (full 13):\n par new generation   total 47936K, used 10451K [0x00000000f6400000, 0x00000000f9800000, 0x00000000f9800000)\n}\n" +
			"2015-05-14T18:55:12.588+0200: 1.158: [GC (CMS Final Remark) 1.158: [ParNew: 10451K->10451K(47936K), 0.0000303 secs] 111291K->111291K(154432K), 0.0000778 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]\n" +
			"1.158: [Rescan (parallel) , 0.0002732 secs]1.158: [weak refs processing, 0.0000176 secs][1 CMS-remark: 100839K(106496K)] 111291K(154432K), 0.0019970 secs] [Times: user=0.00 sys=0.00, real=0.00 secs]\n",
			[]string{`pause up 1.1570 at 2015-05-14T16:55:12.5880 took 1.997ms "GC" cause "CMS Final Remark" of "CMS" heap -1>113961984/158138368`}},
		// G1: the heap comes in the details, ergonomics and ages in between
		{"2022-08-01T17:17:33.375+0000: 0.163: #0: [GC pause (G1 Evacuation Pause) (young), 0.0087570 secs]\n   [Parallel Time: 5.2 ms, GC Workers: 2]\n      [GC Worker Start (ms): Min: 164.8, Avg: 164.9, Max: 165.0, Diff: 0.2]\n" +
			"   [Eden: 7168.0K(7168.0K)->0.0B(4096.0K) Survivors: 0.0B->1024.0K Heap: 7168.0K(32768.0K)->6664.5K(32768.0K)]\n [Times: user=0.01 sys=0.00, real=0.01 secs]\n" +
			" 0.290: [G1Ergonomics (Concurrent Cycles) initiate concurrent cycle, reason: concurrent cycle initiation requested]\n0.290: [GC pause (G1 Evacuation Pause) (young) (initial-mark) 0.290: [G1Ergonomics (CSet Construction) start choosing CSet, remaining time: 197.45 ms]\n 0.301: [G1Ergonomics (Heap Sizing) attempt heap expansion, threshold: 10.00 %]\n, 0.0115587 secs]\n 0.301: [G1Ergonomics (Heap Sizing) x]\n   [Other: 0.3 ms]\n" +
			"0.302: [GC concurrent-root-region-scan-start]\n0.302: [GC concurrent-root-region-scan-end, 0.0001729 secs]\n",
			[]string{
				`pause up 0.1630 at 2022-08-01T17:17:33.3750 took 8.757ms "GC pause (young)" cause "G1 Evacuation Pause" of "G1" heap 7340032>6824448/33554432`,
				`pause up 0.2900 took 11.5587ms "GC pause (young) (initial-mark)" cause "G1 Evacuation Pause" of "G1"`,
				`concurrent up 0.3018 took 172.9µs "GC concurrent-root-region-scan" of "G1"`,
			}},
		{"2015-10-02T17:14:13.272+0200: 400,737: [GC remark 2015-10-02T17:14:13.273+0200: 400,737: [Finalize Marking, 0,0008144 secs] 2015-10-02T17:14:13.273+0200: 400,738: [GC ref-proc, 0,0066596 secs] 2015-10-02T17:14:13.280+0200: 400,745: [Unloading, 0,0904835 secs], 0,1005220 secs]\n [Times: user=0,18 sys=0,00, real=0,10 secs]\n369310.802: [GC pause (young) 485M->240M(512M), 0.0558340 secs]\n1.0: [GC pause (G1 Humongous Allocation) (young) (initial-mark) (to-space exhausted), 0.1 secs]\n",
			[]string{
				`pause up 400.7370 at 2015-10-02T15:14:13.2720 took 100.522ms "GC remark" of "G1"`,
				`pause up 369310.8020 took 55.834ms "GC pause (young)" of "G1" heap 508559360>251658240/536870912`,
				`pause up 1.0000 took 100ms "GC pause (young) (initial-mark) (to-space exhausted)" cause "G1 Humongous Allocation" of "G1"`,
			}},
		{"2022-08-17T16:20:47.685+0800: 2.469: [Pause Init Mark (process weakrefs), start]\n2022-08-17T16:20:47.688+0800: 2.472: [Pause Init Mark (process weakrefs), 3.341 ms]\n2022-08-17T16:20:48.555+0800: 3.338: [Concurrent marking (process weakrefs), 866.393 ms]\n3.5: [Pause Degenerated GC (Mark) 63M->9M(64M), 12.5 ms]\n",
			[]string{
				`pause up 2.4687 at 2022-08-17T08:20:47.6846 took 3.341ms "Pause Init Mark (process weakrefs)" of "Shenandoah"`,
				`concurrent up 2.4716 at 2022-08-17T08:20:47.6886 took 866.393ms "Concurrent marking (process weakrefs)" of "Shenandoah"`,
				`pause up 3.4875 took 12.5ms "Pause Degenerated GC (Mark)" of "Shenandoah" heap 66060288>9437184/67108864`,
			}},
		// the first was cut off; the stamps are missing
		{"9.089: [GC 17024K->1751K(2095040K), 0.0308466 secs\n9.2: [GC (GCLocker Initiated GC)9.2: [DefNew: 32671K->35386K(349568K), 0.0082400 secs] 35230K->38078K(354944K), 0.0082790 secs]\n[Full GC (Ergonomics)  1024K->512K(2048K), 0.5000000 secs]\n",
			[]string{
				`pause up 9.2000 took 8.279ms "GC" cause "GCLocker Initiated GC" of "Serial" heap 36075520>38991872/363462656`,
				`pause took 500ms "Full GC" cause "Ergonomics" of "Serial" heap 1048576>524288/2097152`,
			}},
	} {
		check(t, c.log, c.want...)
	}
}
