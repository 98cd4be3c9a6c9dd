package main

import "strings"

// parts of packages that need the machine do not: these of their tests look at namespaces
// and processes of their own, and run beside others. Each pattern is a process of its own,
// so that those which judge recordings do not keep those waiting which wait anyway.
var parts = map[string][]string{
	"snag/cmd/snag":    {"^Test(Ablate|KilledAtEachSync|TheGuardIsKilled|TheTerminalIsLost|ARelativeStore|AReadOnlyProc|ADeviceThatGoesAway|ADiskThatIsFull|TwoAtOnce|ReadHoldsAgainstAnyFile|ReadOfThousandsOfFiles|WatchOfRealStreams|PassiveInANamespace|TracesBesideALogOfAnHour|TracesOfTheLabAreJudged|LogsNameTheirCulprit|WatchThatIsStarved|WatchOfTenThousand)$"},
	"snag/lab/all":     {"^TestRemedies$", "^Test(CommandsForNow|FamiliesAreSound|RecordedIncidents|SetUpHasWhatFamiliesNeed|ThePlayerAtSeveralPlaces|ThePlayerAlone|ThePlayerAloneAtOtherLevels|WrongPlansAreValid)$"},
	"snag/recorder":    {"^Test(ACloserLookAtAnIncident|AJudgementThatFailsIsToldOnce|AKilledRecordersFreezeEnds|APieceThatIsPackedAndStillOpen|ARuleMakesAnIncident|AStreamIsJudgedAtOnce|AStreamThatWasWellIsNewsAgain|AStreamWithoutAnAnswerIsNoticed|AURLThatNeverWorksIsReportedOnce|AnIncidentHasABeginningAndAnEnd|DownsamplingKeepsExtremesAndWhatHappened|EarlierTimesLeaveIncidentsOut|FullDisk|IncidentsThatCantBeRead|KeeperDoesNotWaitForThinning|KeeperThins|KilledRecorder|KilledWhileAStreamIsRead|LookBack|MemoryIsGivenBackAfterPacking|MemoryOfKnownStacks|NamesSayWhatIsInside|OldIncidentsGo|OldPiecesGoAndBecomeThinner|OneRecorderAtATime|ReadWhilePiecesArePacked|RingSaysWhatItHas|SalvageOfAKilledRecorder|Schedule|StacksAreKeptAsTheyCame|StacksThatAreNotUsedGo|StreamsAreKeptWhenDownsampled|StreamsAreNoticed|StreamsOverPieces|TheClockIsSet|TheClockIsSetWhileAStreamIsRead|Trigger|TriggerForgets|TriggerOfWhatHappens|WithoutStreams|WriterGoesOnFromPieceToPiece)$"}, // all but TestMemoryOnABusyHost
	"snag/lab/labtest": {"^TestBothEndsCaptured$"},
}

// split puts the parts of packages that may run beside others there.
func split(all []pkg) (out []pkg) {
	for _, p := range all {
		for _, tests := range parts[p.ImportPath] {
			part := p
			part.flags, part.part = []string{"-test.run=" + tests}, true
			out = append(out, part)
		}
		if all := parts[p.ImportPath]; len(all) > 0 {
			p.flags = []string{"-test.skip=" + strings.Join(all, "|")}
		}
		out = append(out, p)
	}
	return out
}
