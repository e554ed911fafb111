package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// complaint is a class of what users of other actions complained of, in the issues cited.
type complaint struct {
	cited string   // "OWNER/REPOSITORY#NUMBER", an advisory or a release, separated by spaces
	point string   // what they complained of
	tests []string // "FOLDER.TestName": what keeps it from happening here
	not   string   // why it is none of ours; then there are no tests
}

// complaints lists all classes that were found, in the order of the subjects: comments, forks, sizes, annotations, packaging, supply
// chain, what a gate means. TestComplaints holds every name to a test that is there.
var complaints = []complaint{
	// Comments.
	{"pulumi/actions#633", "another wording, and the old comment was not found: a new one each run",
		[]string{"summary/ci.TestCommentIsFoundWhateverItSays"}, ""},
	{"benchmark-action/github-action-benchmark#98", "one comment that is always updated was asked for, for two years",
		[]string{"summary/ci.TestOneCommentOverManyRuns", "internal/cli.TestActionCommentIsUpdated", "test/e2e.TestPullRequest"}, ""},
	{"iterative/cml#719", "a page full of similar reports", []string{"summary/ci.TestOneCommentOverManyRuns"}, ""},
	{"1Password/check-signed-commits-action#8", "a comment for each push", []string{"summary/ci.TestOneCommentOverManyRuns", "test/e2e.TestPullRequest"}, ""},
	{"InstaWP/wordpress-testing-automation#15", "a pull request bombarded with updates",
		[]string{"summary/ci.TestNothingIsBegunWithoutNeed", "internal/cli.TestActionCommentModes"}, ""},
	{"andresz1/size-limit-action#24 mainmatter/ember-asset-size-action#9 hashicorp/nextjs-bundle-analysis#58", "the same wish",
		[]string{"summary/ci.TestOneCommentOverManyRuns"}, ""},
	{"bufbuild/buf-action#82 ctrf-io/github-test-reporter#20 EnricoMi/publish-unit-test-result-action#41 EnricoMi/publish-unit-test-result-action#37", "a comment only where something fails, or none",
		[]string{"internal/cli.TestActionCommentModes", "summary/ci.TestParseMode"}, ""},
	{"aryamthecodebreaker/FixMap#77", "the author was taken for github-actions[bot]: another token, and there were two",
		[]string{"summary/ci.TestCommentIsFoundWhoeverWroteIt"}, ""},
	{"anthropics/claude-code-action#960 phwt/sonarqube-quality-gate-action#38 mbeacom/adrkit#107", "a look at the author defeats the mark",
		[]string{"summary/ci.TestCommentIsFoundWhoeverWroteIt", "summary/ci.TestForgedMarkersAreNotBelieved"}, ""},
	{"vuphongle/oss-pr-reviewer#21", "two runs at once: two comments, and the older run's result stays",
		[]string{"summary/ci.TestOlderRunNeverOverwrites", "summary/ci.TestNeverMadeTwice", "summary/ci.TestEveryInterleavingOfTwoRuns", "summary/ci.TestOneCommentIsLeft", "internal/cli.TestActionCommentIsUpdated", "test/e2e.TestPullRequest"}, ""},
	{"langfuse/langfuse#14907 langfuse/experiment-action#80 langfuse/experiment-action#82", "the legs of a matrix overwrite each other's comment",
		[]string{"summary/ci.TestMatrixLegsDoNotClobber", "internal/cli.TestActionTwoStepsUnderOneKey"}, ""},
	{"EnricoMi/publish-unit-test-result-action#183", "what failed is lost once a later run is green",
		[]string{"internal/cli.TestActionCommentIsUpdated", "summary/ci.TestAMarkRemembersSomeOfManyRules", "summary.TestCommentHeading"}, ""},
	{"MishaKav/pytest-coverage-comment#94 MishaKav/pytest-coverage-comment#189 joonvena/robotframework-reporter-action#18 liatrio/terraform-change-pr-commenter#71 iterative/cml#1144", "several reports need a key each",
		[]string{"internal/cli.TestActionKey", "summary/ci.TestLongKeys"}, ""},
	{"unsplash/comment-on-pr#3 fishworks/fish-food#1346", "names in a comment that is written again notify people again",
		[]string{"summary.TestCommentHasExactlyItsOwnMarkup", "summary.TestEscapeProse"}, ""},
	{"iterative/cml#753", "comments on a commit are lost with it", []string{"internal/cli.TestActionCommentIsUpdated"}, ""}, // it is the pull request's

	// Forks and permissions.
	{"marocchino/sticky-pull-request-comment#227 marocchino/sticky-pull-request-comment#930", "a fork's token cannot comment, and the contributor's build is red",
		[]string{"summary/ci.TestForkIsANoticeNotAFailure", "internal/cli.TestActionReadOnlyTokens", "test/e2e.TestFork"}, ""},
	{"MishaKav/pytest-coverage-comment#30 MeilCli/danger-action#390 hasura/comment-progress#9 thollander/actions-comment-pull-request#237", "the same",
		[]string{"summary/ci.TestForkIsANoticeNotAFailure", "internal/cli.TestActionReadOnlyTokens"}, ""},
	{"reviewdog/reviewdog#411", "where nothing can be written the log should tell it", []string{"internal/cli.TestActionReadOnlyTokens", "test/e2e.TestFork"}, ""},
	{"UCL-ARC/python-tooling#549 vale-cli/vale-action#89", "on the lesser path a limit of ten fails the job",
		[]string{"summary/ci.TestManyAnnotations", "internal/cli.TestActionWhateverTheAPIAnswers"}, ""},
	{"actions/runner#3444 github/docs#22501 nyurik/auto_pr_comments_from_forks#3", "workflow_run does not tell the number of a fork's pull request",
		[]string{"internal/cli.TestActionFromReport", "internal/cli.TestActionFromReportRefuses", "test/e2e.TestTrustedComment"}, ""},
	{"EnricoMi/publish-unit-test-result-action#359", "what changed is not shown for forks", []string{"internal/cli.TestActionFromReport"}, ""},
	{"codecov/codecov-action#1292 a13xp0p0v/kernel-hardening-checker#126", "a token that forks do not have makes the build red",
		[]string{"internal/cli.TestActionNowhereToComment", "internal/cli.TestActionBaseCannotBeRead"}, ""},
	{"yorkie-team/yorkie#367 tachyon-zcash/ragu#421", "people write conditions for forks, or two workflows, by hand",
		[]string{"test/e2e.TestFork", "test/e2e.TestTrustedComment", "test/e2e.TestRequests"}, ""},

	// Sizes.
	{"actions/dependency-review-action#867 actions/dependency-review-action#786", "a summary over the limit fails a required workflow",
		[]string{"summary/ci.TestSummaryStaysUnderTheLimit", "summary/ci.TestReportingFailures"}, ""},
	{"maester365/maester#905", "a summary cut some bytes too late", []string{"summary/ci.TestSummaryStaysUnderTheLimit", "summary.TestMarkdownBudget"}, ""},
	{"prefix-dev/rattler-build#2738 airbytehq/airbyte#18868 Azure/bicep-registry-modules#7331 danielpalme/ReportGenerator-GitHub-Action#31", "a large run has no summary at all",
		[]string{"summary.TestMarkdownBudget", "summary.TestMarkdownCountsWhatItLeavesOut"}, ""},
	{"pulumi/actions#482 cpp-linter/cpp-linter-action#208 mshick/add-pr-comment#93 thollander/actions-comment-pull-request#303", "a comment over 65,536 characters is an error",
		[]string{"summary/ci.TestTooLongIsWrittenShorter", "summary.TestNothingIsDroppedUncounted"}, ""},
	{"reviewdog/action-eslint#139", "a check's text over 65,535 characters", nil, "no check run is written: a step's result and its summary say the same without another permission"},

	// Annotations.
	{"golangci/golangci-lint-action#31 golangci/golangci-lint-action#1228", "the folder and the prefix of paths were wrong, twice in five years",
		[]string{"internal/cli.TestActionPathPrefix", "internal/cli.TestActionPaths"}, ""},
	{"astral-sh/ruff#1835 mattallty/jest-github-action#20 ember-template-lint/ember-template-lint#2488", "paths below a folder of a repository of many",
		[]string{"internal/cli.TestActionPaths", "summary/ci.TestPlacesInAFolder"}, ""},
	{"crate-ci/typos#1496", "./ before a path, and columns from 0", []string{"summary/ci.TestInWorkspace", "internal/cli.TestActionVerdicts"}, ""},
	{"open-policy-agent/conftest#1173", "an annotation without its line", []string{"summary/ci.TestAnnotations", "internal/cli.TestActionVerdicts"}, ""},
	{"adrienverge/yamllint#573 mikepenz/action-junit-report#1063 staabm/annotate-pull-request-from-checkstyle#106 r-lib/lintr#515", "after ten, silence",
		[]string{"summary/ci.TestManyAnnotations"}, ""},
	{"CROSSINGTUD/CryptoAnalysis#527 bullfrogsec/bullfrog#3", "one annotation for the rest, and that there are more", []string{"summary/ci.TestManyAnnotations"}, ""},
	{"dorny/test-reporter#224 dorny/test-reporter#387 bencherdev/bencher#536 LouisBrunner/checks-action#26", "a check run turns up in another workflow",
		nil, "no check run is written: a step's result and its summary stand where the step is"},

	// Packaging.
	{"EmbarkStudios/cargo-deny-action#4 alstr/todo-to-issue-action#89 whoan/docker-build-with-cache-action#123 rlespinasse/drawio-export-action#49 pullpreview/action#107", "the image is built in each run",
		[]string{"test/e2e.TestReleaseAction"}, ""},
	{"nborrmann/diff-poetry-lock#9", "a registry's limit, by the image that ours is built from", []string{"test/e2e.TestReleaseAction"}, ""}, // a release is pulled, not built
	{"actions/hello-world-docker-action#15", "how to hand out an image that is built", nil, "a wish for an example; a release's action.yml is one"},
	{"EnricoMi/publish-unit-test-result-action#510 jenkins-x-plugins/jx-release-version#128 peter-evans/dockerhub-description#298", "nothing for arm64",
		[]string{"test/e2e.TestReleaseBinaries", "test/e2e.TestReleaseWorkflow"}, ""},
	{"EnricoMi/publish-unit-test-result-action#190 EnricoMi/publish-unit-test-result-action#239 snyk/actions#87 peter-evans/create-pull-request#40", "container actions run on Linux only",
		[]string{"test/e2e.TestReleaseBinaries", "test/docs.TestPipelines", "test/docs.TestLinuxOnly"}, ""}, // the program itself runs elsewhere too
	{"actions/runner-container-hooks#281 actions/runner#2607", "runners on Kubernetes build no image", []string{"test/e2e.TestReleaseAction"}, ""},
	{"actions/runner#434", "files of root's in the workspace break the next checkout", []string{"internal/cli.TestActionPaths", "test/e2e.TestImage"}, ""},
	{"silvertakana/worldwideview#327 heytcass/home-assistant-addons#89 artyomsv/marauder#28", "a tag is gone, or another action inside an action",
		[]string{"test/e2e.TestReleaseTags", "internal/cli.TestActionFile"}, ""},

	// Supply chain and injection.
	{"ossf/scorecard-action#1676 mikefarah/yq#2681 wagoid/commitlint-github-action#833 bug-ops/deps-lsp#1274", "a pinned action runs an image by a tag that moves",
		[]string{"test/e2e.TestReleaseAction"}, ""},
	{"aquasecurity/trivy-action#541 CVE-2026-33634", "tags moved to other commits", []string{"test/e2e.TestReleaseTags", "test/e2e.TestReleaseWorkflow"}, ""},
	{"CVE-2026-26189", "inputs on their way through a shell", []string{"internal/cli.TestActionFile"}, ""},
	{"google-github-actions/run-gemini-cli#526 sreerevanth/repopilot#297 Uniswap/briefcase#18", "an output's delimiter that is known, and text of others in the output",
		[]string{"summary/ci.TestOutputsHoldAnything", "summary/ci.TestRunnerFollowed", "internal/cli.TestActionVerdictComesLast"}, ""},
	{"SeanLF/still_active#47 sorenlouv/backport#515 Hack-HQ/hackhq#211 JSONbored/loopover#2487", "names, links and markup in text of others",
		[]string{"summary.TestCommentHasExactlyItsOwnMarkup", "summary.TestMarkdownHasExactlyItsOwnMarkup", "summary/ci.TestAnnotationsHoldAnything", "internal/cli.TestActionFromReport"}, ""},

	// What a gate means.
	{"web-platform-tests/wpt#18392 mheap/github-action-required-labels#31 actions/toolkit#146", "there is no neutral result any more",
		[]string{"internal/cli.TestActionFailOn", "internal/cli.TestActionVerdicts"}, ""},
	{"EnricoMi/publish-unit-test-result-action#624", "to fail only where something got worse", nil,
		"a verdict rests on a rule's threshold, so that many small steps down do not pass; compare decides whether a version is worse, and baseline-report shows what has changed"},
	{"EnricoMi/publish-unit-test-result-action#491 EnricoMi/publish-unit-test-result-action#99 EnricoMi/publish-unit-test-result-action#98", "the step's result apart from the check's",
		[]string{"internal/cli.TestActionFailOn"}, ""},
	{"dorny/test-reporter#373", "one empty file among many, and the run is green", []string{"internal/cli.TestEmptyFileAmongOthers"}, ""},
	{"dorny/test-reporter#570", "no result at all, and a required check waits for ever", []string{"internal/cli.TestActionVerdicts", "internal/cli.TestActionTellsEveryBadInput"}, ""},
	{"chenhz01/loop-gate@v0.1.1", "a misspelt path: 0 files read, and green", []string{"internal/cli.TestBadPaths", "internal/cli.TestBadInput"}, ""},
	{"promptfoo/promptfoo#1441 promptfoo/promptfoo#5847 promptfoo/promptfoo#1932 promptfoo/promptfoo-action#865", "thresholds on rates over repeats, and results that flicker",
		[]string{"engine/gate/compare.TestWorkedExample", "engine/gate/compare.TestPlan", "engine/gate/compare.TestMissingTrialsCountAgainstTheDecision"}, ""},
	{"open-telemetry/opentelemetry-go#2649 davesnx/html_of_jsx#51 kmarchais/mmgpy#134", "thresholds on noisy numbers are raised until they say nothing",
		[]string{"summary.TestNoBareEstimate", "internal/cli.TestActionPolicyRef", "engine/policy.TestChanges"}, ""},
	{"shakacode/react_on_rails#2373 yuluo-yx/typo#83 twcclegg/libphonenumber-csharp#425", "tests of significance written by hand in a shell",
		[]string{"engine/interval.TestSignTestReference", "engine/gate/compare.TestWorkedExample"}, ""},
	{"benchmark-action/github-action-benchmark#267", "compare with the base, not with the commit before", []string{"internal/cli.TestActionBaselineReport", "test/e2e.TestPullRequest"}, ""},
	{"microsoft/microsoft-ui-reactor#846 EnricoMi/publish-unit-test-result-action#40", "before and after, and only where something has changed",
		[]string{"summary.TestBeforeText", "internal/cli.TestActionCommentModes"}, ""},
	{"jannikmi/timezonefinder#454", "a noisy gate that everyone learns to ignore is worse than none",
		[]string{"internal/cli.TestActionFailOn", "internal/cli.TestActionCommentModes", "test/e2e.TestFork"}, ""}, // whose workflow fails on FAIL only
	{"mage-os/github-actions#130 ataylorme/eslint-annotate-action#19 EnricoMi/publish-unit-test-result-action#100", "which results fail a step should be said by the workflow",
		[]string{"internal/cli.TestActionFailOn"}, ""},
}

// TestComplaints: each class has a source, and either tests that are there or a reason.
func TestComplaints(t *testing.T) {
	source := regexp.MustCompile(`^([\w.-]+/[\w.-]+(#\d+|@v\d+\.\d+\.\d+)|CVE-\d{4}-\d{4,})$`)
	seen := map[string]bool{}
	inFolder := map[string][]string{}
	for _, c := range complaints {
		for _, s := range strings.Fields(c.cited) {
			if !source.MatchString(s) || seen[s] {
				t.Errorf("%q is no source, or stands twice", s)
			}
			seen[s] = true
		}
		if len(strings.Fields(c.cited)) == 0 || c.point == "" || (len(c.tests) > 0) == (c.not != "") {
			t.Errorf("%s: it needs a source, a point, and either tests or why it is none of ours", c.cited)
		}
		for _, name := range c.tests {
			folder, test, _ := strings.Cut(name, ".")
			if inFolder[folder] == nil {
				inFolder[folder] = testsIn(t, folder)
			}
			if !slices.Contains(inFolder[folder], test) {
				t.Errorf("%s: there is no %s in %s", c.cited, test, folder)
			}
		}
	}
	if len(complaints) != 61 { // the classes that were found; one that is dropped has to be told here
		t.Errorf("there are %d classes", len(complaints))
	}
}

// testsIn lists the tests in a folder of the repository.
func testsIn(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d files with tests (%v)", folder, len(files), err)
	}
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names
}

// TestLinuxOnly: whoever is about to paste the action's first workflow reads where it runs, and where the program runs besides.
func TestLinuxOnly(t *testing.T) {
	for path, want := range map[string][]string{
		"README.md":      {"GitHub runs those on Linux only", "the program itself also builds for macOS and Windows"},
		"docs/action.md": {"GitHub runs those on Linux runners only"},
	} {
		text := strings.Join(strings.Fields(strings.Join(readDocument(t, path).lines, "\n")), " ")
		for _, sentence := range want {
			if !strings.Contains(text, sentence) {
				t.Errorf("%s does not say %q", path, sentence)
			}
		}
	}
}
