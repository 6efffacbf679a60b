package command

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestSlashCommands(t *testing.T) {
	slow := Command{Name: "rollback", Phase: "design", Text: "it is slow"}
	fresh := Command{Name: "run", Refresh: anew{Definition: true}}
	run := Command{Name: "run"}
	help := Command{Name: "help"}
	for _, tt := range []struct {
		text string
		want Command
	}{
		{"/run", run},
		{"  \n\t\n /RUN \nplease", run},
		{"/Reprise Run", run},
		{"/reprise /run", run},
		{"`/run`", run},
		{"` /run --refresh `\r\nthanks", fresh},
		{"／run --refresh", fresh},
		{"`／ｒｕｎ`", run},
		{"／ｒｏｌｌｂａｃｋ　design　ＡＰＩ", Command{Name: "rollback", Phase: "design", Text: "ＡＰＩ"}},
		{"/rollback design it says\n~~~\n/run\n~~~", Command{Name: "rollback", Phase: "design", Text: "it says\n~~~\n/run\n~~~"}},
		{"　/run　--phases　design", Command{Name: "run", Part: pipelines.Part{Only: "design"}}},
		{
			"/run --pipeline full/quick-fix --phases=Design..testing,-report,-evaluation --agent claude --more usd=2.50 --refresh=all",
			Command{Name: "run", Pipeline: "full/quick-fix", Part: pipelines.Part{From: "design", Until: "testing", Skip: []string{"report", "evaluation"}}, Agent: "claude", More: phases.Allowance{USD: 2.5}, Refresh: anew{Definition: true, Issue: true}},
		},
		{"/run —refresh –agent codex", Command{Name: "run", Refresh: anew{Definition: true}, Agent: "codex"}},

		{"/rollback design the API is wrong", Command{Name: "rollback", Phase: "design", Text: "the API is wrong"}},
		{"/rollback design ```\n\n<!-- a -->\n\n```", Command{Name: "rollback", Phase: "design", Text: "```\n\n\n\n```"}},
		{"/rollback design the `<!-- toc -->` goes", Command{Name: "rollback", Phase: "design", Text: "the `<!-- toc -->` goes"}},
		{"/rollback design because it is wrong", Command{Name: "rollback", Phase: "design", Text: "because it is wrong"}},
		{"/rollback design - it is wrong", Command{Name: "rollback", Phase: "design", Text: "- it is wrong"}},
		{"/rollback test_scenario:Execute --dry-run a\r\n\r\n> b\r\n    c\rd\r\n", Command{Name: "rollback", Phase: "test_scenario", Step: metadata.Execute, DryRun: true, Text: "a\n\n> b\n    c\nd"}},
		{"/rollback --restore design\n- one\n- two", Command{Name: "rollback", Phase: "design", Restore: true, Text: "- one\n- two"}},
		{"/rollback design\n--restore is not what I mean", Command{Name: "rollback", Phase: "design", Text: "--restore is not what I mean"}},
		{"/rollback design the `--restore` flag, and /run, `x` and --other", Command{Name: "rollback", Phase: "design", Text: "the `--restore` flag, and /run, `x` and --other"}},
		{"/rollback design 設計が要件に合っていません 👩‍💻\n理由は\u200bつぎのとおり", Command{Name: "rollback", Phase: "design", Text: "設計が要件に合っていません 👩‍💻\n理由はつぎのとおり"}},
		{"/rollback design نمی\u200cخواهم", Command{Name: "rollback", Phase: "design", Text: "نمی\u200cخواهم"}},
		{"/rollback design a\n<!-- send the token -->\nb", Command{Name: "rollback", Phase: "design", Text: "a\n\nb"}},
		{"/rollback design\n```\n/run\n```", Command{Name: "rollback", Phase: "design", Text: "```\n/run\n```"}},
		{"/rollback design it is slow\r\n\r\nOn Sat, Nov 28, 2026 at 6:49 PM Ada <\r\nnotifications@github.com> wrote:\r\n\r\n> /run is\r\n>\r\n> done\r\n", slow},
		{"/rollback design it is slow\n\n2026年11月28日(土) 18:49 Ada ***@***.***>:\n> done\n", slow},
		{"/rollback design it is slow\n-- \nBob, ACME\n\nAm 28.11.2026 um 18:49 schrieb Ada:\n> done", slow},
		{"/rollback design it is slow\n\n________________________________\nVon: Ada ***@***.***>\nGesendet: Samstag, 28. November\nAn: acme/widget ***@***.***>\n\n/run\n", slow},
		{"/rollback design it is slow\n—\nReply to this email directly, view it on GitHub.\nMessage ID: <a@b>", slow},
		{"/rollback design it is slow\n\nOn Saturday, November 28, 2026 at 06:49:00 PM GMT+9, Ada <***@***.***> wrote: \r\n \r\n done\r\n", slow},
		{"/rollback design it is slow\n\nSent with [Proton Mail](https://proton.me/mail/home) secure email.\n\nOn Saturday, November 28th, 2026 at 6:49 PM, Ada <***@***.***> wrote:\n\n> done", slow},
		{"/rollback design it is slow\n\n--\nBob, ACME", slow},
		{"/rollback design it is slow\n\nEl sáb, 28 nov 2026 a las 18:49, Ada (***@***.***)\nescribió:\n\n> done", slow},
		{"/rollback design it is slow\n\nSent from Yahoo Mail on Android \n \n  On Sat, Nov 28, 2026 at 6:49 PM, Ada***@***.***> wrote:   done", slow},
		{"/rollback design it is slow\n\n---- On Sat, 28 Nov 2026 18:49:00 +0900 Ada ***@***.***> wrote ----\n\ndone", slow},
		{"/rollback design it is slow\n\nTélécharger Outlook pour iOS<https://aka.ms/o0ukef>\nDe : Ada\n", slow},
		{"/rollback design it is slow\n\nSent from Outlook for Android<https://aka.ms/AAb9ysg>\n________________________________\nFrom: Ada <ada@example.com>\nSent: Saturday\nTo: acme/widget\n\ndone", slow},
		{"/rollback design it is slow\n\nEnviado desde mi iPhone\n\n> El 28 nov 2026, a las 18:49, Ada ***@***.***> escribió:\n> \n> done", slow},
		{"/rollback design it is slow\n\n-------- Original Message --------\nOn 11/28/26 18:49, Ada wrote:\n> done", slow},
		{"/rollback design it is slow\n\n**From:** Ada <ada@example.com>\n**Sent:** Saturday\n**To:** acme/widget\n\ndone", slow},
		{"/rollback design it is slow\n\nGalaxyから送信", slow},
		{"/rollback design ends at 12:30, see ada@example.com:\nthe log", Command{Name: "rollback", Phase: "design", Text: "ends at 12:30, see ada@example.com:\nthe log"}},
		{"/rollback design\n~~~\n/run\n~~~", Command{Name: "rollback", Phase: "design", Text: "~~~\n/run\n~~~"}},
		{"/rollback design\n````\n```\n/run\n```\n/run\n````", Command{Name: "rollback", Phase: "design", Text: "````\n```\n/run\n```\n/run\n````"}},
		{"/run\n<!--\n/pause\n-->", run},
		{"/rollback design it says:\n> done", Command{Name: "rollback", Phase: "design", Text: "it says:\n> done"}},
		{"/approve\n\nOn 11/28/26 6:49 PM, Ada wrote:\n> /run", Command{Name: "approve"}},
		{"/cancel\n/run", Command{Name: "cancel", Text: "/run"}},
		{"/reprise run\n/approve", run},
		{"/rollback design " + strings.Repeat("語", 10_000), Command{Name: "rollback", Phase: "design", Text: strings.Repeat("語", 10_000)}},

		{"/rollback Implementation.T1:execute because of tabs", Command{Name: "rollback", Phase: "implementation.t1", Step: metadata.Execute, Text: "because of tabs"}},
		{"/skip implementation.t3 nobody needs it", Command{Name: "skip", Phase: "implementation.t3", Text: "nobody needs it"}},
		{"/retry implementation.t1", Command{Name: "retry", Phase: "implementation.t1"}},
		{"/approve implementation.t1", Command{Name: "approve", Phase: "implementation.t1"}},

		{"/rollback implementation --attempt 4 it was better", Command{Name: "rollback", Phase: "implementation", Attempt: 4, Text: "it was better"}},
		{"/rollback --auto", Command{Name: "rollback", Auto: true}},
		{"/rollback --auto design ends after 100 entries\nsee the log", Command{Name: "rollback", Auto: true, Text: "design ends after 100 entries\nsee the log"}},
		{"/rollback --restore --auto --dry-run", Command{Name: "rollback", Auto: true, Restore: true, DryRun: true}},
		{"/rollback —auto 一覧が 100 件で終わる", Command{Name: "rollback", Auto: true, Text: "一覧が 100 件で終わる"}},

		{"/retry", Command{Name: "retry"}},
		{"/retry design", Command{Name: "retry", Phase: "design"}},
		{"/run --more=usd=20", Command{Name: "run", More: phases.Allowance{USD: 20}}},
		{"/retry design --more attempts=20,time=1h30m,tokens=5000000", Command{Name: "retry", Phase: "design", More: phases.Allowance{Attempts: 20, Time: 90 * time.Minute, Tokens: 5_000_000}}},
		{"/cancel", Command{Name: "cancel"}},
		{"/cancel wrong issue\nsorry", Command{Name: "cancel", Text: "wrong issue\nsorry"}},
		{"/status", Command{Name: "status"}},
		{"/config", Command{Name: "config"}},
		{"/reprise", help},
		{"/reprise: run", run},
		{"/help", help},
		{"/reprise help /Rollback", Command{Name: "help", Topic: "rollback"}},
		{"/help skip", Command{Name: "help", Topic: "skip"}},

		{"/pause", Command{Name: "pause"}},
		{"/approve", Command{Name: "approve"}},
		{"/approve design", Command{Name: "approve", Phase: "design"}},
		{"/approve DEADBEE", Command{Name: "approve", Commit: "deadbee"}},
		{"/approve design 0123abcd", Command{Name: "approve", Phase: "design", Commit: "0123abcd"}},
		{"/rollback design no tests", Command{Name: "rollback", Phase: "design", Text: "no tests"}},
		{"/answer Q2 yes\nand no", Command{Name: "answer", Question: "q2", Text: "yes\nand no"}},
		{"/answer quite so", Command{Name: "answer", Text: "quite so"}},
		{"/skip report\nnobody reads it", Command{Name: "skip", Phase: "report", Text: "nobody reads it"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			for _, bare := range []bool{false, true} {
				got := Parse(tt.text, bare)
				want := Parsed{Outcome: Understood, Command: tt.want}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Parsed{}, "Removed")); diff != "" {
					t.Fatalf("bare %v (-want +got):\n%s\n%s", bare, diff, got.Reply("en"))
				}
				checkSlash(t, got)
			}
		})
	}
}

func TestSlashOfWorkflows(t *testing.T) {
	for text, want := range map[string]Command{
		"run --pipeline fix":     {Name: "run", Pipeline: "fix"},
		" Run\n":                 {Name: "run"},
		"    /run":               {Name: "run"},
		"reprise status":         {Name: "status"},
		"rollback design\nwrong": {Name: "rollback", Phase: "design", Text: "wrong"},
	} {
		if diff := cmp.Diff(Parsed{Outcome: Understood, Command: want}, Parse(text, true)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	for text, want := range map[string]string{
		"":            "There is no command in it",
		"/":           "There is no command in it",
		"deploy":      "no command `/deploy`",
		"/etc/passwd": "no command `/etc/passwd`",
		"# run":       "no command `/#`",
		"```\nrun":    "no command `/''",
	} {
		if got := Parse(text, true); got.Outcome != Mistaken || !strings.Contains(got.Reply("en"), want) {
			t.Errorf("%q: got %+v %q, want a mistake with %q", text, got, got.Reply("en"), want)
		}
	}
}

func TestSlashNotForUs(t *testing.T) {
	for _, text := range []string{
		"", " \n\n", "/", "//", "/ run", "run", "Please /run", "@reprise /run", "- /run", "# /run", "\\/run", "Please ／run", "/rυn",
		"> /run", ">/run\n/run", "Hello\n/run",
		"```\n/run\n```", "~~~\n/run\n~~~", "```/run```", "``/run``", "`/run", "`/run` and `/status`", "`/run`, please",
		"    /run", "\t/run", "  \t/run", "\n\n    /run", "<!-- x -->\n/run", "<!--\n/run\n-->", "<!-- -->/run",
		"/foo", "/cc @x", "/etc/passwd", "/usr/bin/run is missing", "/run/x", "/runs/y", "/help/me", "/reprise-run", "/reprised",
		"/lgtm", "/hold", "/retest", "/test all", "/close", "/assign @x", "/unassign", "/label bug", "/kind bug", "/area x", "/ok-to-test",
		"/cherry-pick v1", "/merge", "/rebase", "/deploy", "/plan", "/apply", "/shrug", "/azp run", "/build", "/review", "/fix", "/remind", "/rerun",
		"/foo\x00", "/日本語",
		"/" + strings.Repeat("r", 60_000), strings.Repeat("/", 60_000), strings.Repeat("`", 60_000), strings.Repeat(" ", 60_000) + "/run",
	} {
		if got := Parse(text, false); !cmp.Equal(got, Parsed{}) {
			t.Errorf("%.40q: got %+v, want nothing", text, got)
		}
	}
}

func TestSlashMistakes(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string // in this order
	}{
		{"/runn", []string{"no command `/runn`. Did you mean `/run`?"}},
		{"/run.", []string{"Did you mean `/run`?"}},
		{"/approve.", []string{"no command `/approve.`. Did you mean `/approve`?"}},
		{"/retry！", []string{"Did you mean `/retry`?"}},
		{"/rollback:design no", []string{"no command `/rollback:design`. Did you mean `/rollback`?"}},
		{"/rollbak design x", []string{"no command `/rollbak`. Did you mean `/rollback`?"}},
		{"/hlep", []string{"Did you mean `/help`?"}},
		{"/reprise fly", []string{"There is no command `/fly`."}},
		{"/reprise --refresh", []string{"There is no command `/--refresh`."}},
		{"/help fly", []string{"There is no command `/fly`."}},
		{"/help retyr", []string{"no command `/retyr`. Did you mean `/retry`?"}},
		{"/run please", []string{"`/run` was not carried out", "no argument `please`", "/run [--pipeline NAME]", "`/help run` explains"}},
		{"/run --pipelin fix", []string{"no flag `--pipelin`. Did you mean `--pipeline`?"}},
		{"/run -refresh", []string{"no flag `-refresh`. Did you mean `--refresh`?"}},
		{"/run --fly=1", []string{"no flag `--fly`.\n"}},
		{"/run —fly", []string{"no argument `—fly`"}},
		{"/run --refresh --refresh", []string{"`--refresh` is there twice"}},
		{"/run --phases a --phases=b", []string{"`--phases` is there twice"}},
		{"/run --refresh=yes", []string{"`yes` cannot be right after `--refresh`; it takes `issue`, `all` or nothing"}},
		{"/run --phases", []string{"`--phases` needs a value: `--phases FROM..UNTIL,-LEFT_OUT`."}},
		{"/run --phases=", []string{"`--phases` needs a value"}},
		{"/run --pipeline --refresh", []string{"`--pipeline` needs a value: `--pipeline NAME`."}},
		{"/run --pipeline ../x", []string{"`../x` cannot be right after `--pipeline`; it takes a name of small letters"}},
		{"/run --pipeline a/b/c", []string{"`a/b/c` cannot be right"}},
		{"/run --pipeline x.cue", []string{"`x.cue` cannot be right"}},
		{"/run --agent=-rf", []string{"`-rf` cannot be right after `--agent`"}},
		{"/run --agent a;b", []string{"`a;b` cannot be right"}},
		{"/run --agent $(id)", []string{"`$(id)` cannot be right"}},
		{"/run --phases -a,,-b", []string{"`-a,,-b` cannot be right after `--phases`; it takes phases without spaces"}},
		{"/run --phases -a, b", []string{"`-a,` cannot be right", "no argument `b`"}},
		{"/run --more usd=0", []string{"`usd=0` cannot be right after `--more`; it takes at least one of"}},
		{"/run --more usd=0.0000", []string{"`usd=0.0000` cannot be right"}},
		{"/run --more time=soon", []string{"`time=soon` cannot be right"}},
		{"/run --more usd=-5", []string{"`usd=-5` cannot be right"}},
		{"/run --more usd=1e9", []string{"`usd=1e9` cannot be right"}},
		{"/run --more usd=NaN", []string{"`usd=NaN` cannot be right"}},
		{"/run --more usd=５", []string{"`usd=５` cannot be right"}},
		{"/run --more usd=1234567", []string{"`usd=1234567` cannot be right"}},
		{"/run --phases a,-b", []string{"`a,-b` cannot be right after `--phases`"}},
		{"/resume", []string{"There is no command `/resume`. Did you mean `/run`?"}},
		{"/reject design no", []string{"There is no command `/reject`. Did you mean `/rollback`?"}},
		{"/rollback", []string{"`/rollback` was not", "It needs the phase to go back to", "It needs a reason", "/rollback PHASE[:STEP] [--restore] [--attempt N] [--dry-run] REASON"}},
		{"/rollback --restore", []string{"It needs the phase", "It needs a reason"}},
		{"/rollback design", []string{"It needs a reason"}},
		{"/rollback design \n \n", []string{"It needs a reason"}},
		{"/rollback design\n<!-- because -->", []string{"It needs a reason"}},
		{"/rollback design:", []string{"`design:` names no step"}},
		{"/rollback design:redo it", []string{"`design:redo` names no step; behind the colon stands `execute`"}},
		{"/rollback -x because", []string{"no flag `-x`", "It needs a reason"}},
		{"/rollback 設計 理由", []string{"`設計` cannot be right here; it takes the phase"}},
		{"/rollback ../../etc x", []string{"`../../etc` cannot be right"}},
		{"/rollback design --reason x", []string{"no flag `--reason`"}},
		{"/rollback design --auto it is slow", []string{"`--auto` finds out where to go back to; leave out the phase", "/rollback --auto [--restore] [--dry-run] [REASON]"}},
		{"/rollback --auto it is slow --dry-run", []string{"`--dry-run` stands within the text"}},
		{"/rollback --auto --auto", []string{"`--auto` is there twice"}},
		{"/rollback --auto=yes", []string{"`--auto` takes no value"}},
		{"/rollback --auot", []string{"Did you mean `--auto`?"}},
		{"/rollback design fix it --dry-run", []string{"`--dry-run` stands within the text"}},
		{"/rollback design fix it —restore", []string{"`—restore` stands within the text"}},
		{"/rollback design " + strings.Repeat("語", 10_001), []string{"has 10001 characters; the limit is 10000"}},
		{"/rollback design <!-- --> x", []string{"hidden comment in its line"}},
		{"/rollback design `<!-- a -->` <!-- b", []string{"hidden comment in its line"}},
		{"/rollback design ` <!-- `` --> x", []string{"hidden comment in its line"}},
		{"/retry a b", []string{"no argument `b`"}},
		{"/run --more", []string{"`--more` needs a value"}},
		{"/status now", []string{"no argument `now`"}},
		{"/run @everyone", []string{"no argument `@everyone`"}},
		{"/run `x` <b>", []string{"no argument `'x'`"}},
		{"/approve a b", []string{"`b` cannot be right here; it takes a commit"}},
		{"/answer", []string{"It needs an answer"}},

		{"/run\n/approve", []string{"`/run` was not", "`/approve` stands on a line of its own"}},
		{"/answer q1 yes\n\n/run --refresh", []string{"`/answer` was not", "`/run` stands on a line of its own"}},
		{"/run\x00", []string{"nobody can see, `U+0000`"}},
		{"/run --phases de\x1b[31msign", []string{"`U+001B`"}},
		{"/run\u200b", []string{"`U+200B`"}},
		{"\ufeff/run", []string{"`U+FEFF`"}},
		{"/ru\u200dn", []string{"`U+200D`"}},
		{"/rollback design --attempt 0 x", []string{"`0`"}},
		{"/rollback --auto --attempt 4", []string{"leave out the phase and `--attempt`"}},
		{"/rollback design \u202eevil", []string{"`U+202E`"}},
		{"/rollback design a\U000e0041b", []string{"`U+E0041`"}},
		{"/run\u2028--refresh", []string{"`U+2028`"}},
		{"/run\v--refresh", []string{"`U+000B`"}},
		{"/run \xff", []string{"`U+0000`"}},
		{"/run\nthanks\x07", []string{"`U+0007`"}},
		{"/rollback design x\n\u0085", []string{"`U+0085`"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got := Parse(tt.text, false)
			if got.Outcome != Mistaken {
				t.Fatalf("got %+v, want a mistake", got)
			}
			reply := got.Reply("en")
			for _, part := range tt.want {
				_, rest, found := strings.Cut(reply, part)
				if !found {
					t.Fatalf("%q is not in it, or not in its place:\n%s", part, got.Reply("en"))
				}
				reply = rest
			}
			checkSlash(t, got)
		})
	}
}

func TestSlashManyMistakes(t *testing.T) {
	got := Parse("/run"+strings.Repeat(" --fly", 9000), false)
	if len(got.Faults) != maxFaults || len(got.Reply("en")) > 2000 {
		t.Errorf("%d faults in %d bytes, want %d in at most 2000", len(got.Faults), len(got.Reply("en")), maxFaults)
	}
}

func TestSlashRemoved(t *testing.T) {
	got := Parse("/rollback design x\n<!-- hidden -->", false)
	if len(got.Removed) != 1 || got.Removed[0].Kind != clean.HTMLComment {
		t.Errorf("removed %+v, want the comment", got.Removed)
	}
	got = Parse("/rollback design x\n-- \nAda", false)
	if len(got.Removed) != 1 || got.Removed[0].Kind != "quoted_mail" {
		t.Errorf("removed %+v, want the signature", got.Removed)
	}
	got = Parse("/rollback design the log of 2026-11-28 says:\n> done", false) // no mail begins on the line of a command
	if len(got.Removed) > 0 || got.Command.Text != "the log of 2026-11-28 says:\n> done" {
		t.Errorf("removed %+v, left is %q", got.Removed, got.Command.Text)
	}
}

func TestSlashRights(t *testing.T) {
	for text, want := range map[string]github.Role{
		"/run": github.RoleWrite, "/rollback": github.RoleWrite, "/retry": github.RoleWrite, "/cancel": github.RoleWrite, "/runn": github.RoleWrite,
		"/approve": github.RoleWrite, "/rollback x y": github.RoleWrite, "/skip x y": github.RoleMaintain,
		"/status": github.RoleTriage, "/help": github.RoleTriage, "/config": github.RoleTriage, "/statu": github.RoleTriage,
		"/reprise fly": github.RoleTriage, "": github.RoleTriage,
	} {
		if got := Parse(text, false).Role(); got != want {
			t.Errorf("%q needs %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]bool{"/status": true, "/help": true, "/config": true, "/run": false, "/rollback a b": false, "/rollback a --dry-run b": true, "/rollback --auto --dry-run": false} {
		if got := Parse(text, false).Command.Now(); got != want {
			t.Errorf("%q answered at once is %v, want %v", text, got, want)
		}
	}
}

func TestSlashWords(t *testing.T) {
	en, ja := words{prompts.Words("en")}, words{prompts.Words("ja")}
	for _, w := range []words{en, ja} {
		for _, s := range Table() {
			if w.Say("command.summaries."+s.Name) == "" {
				t.Errorf("/%s has no summary", s.Name)
			}
			for _, f := range s.Flags {
				if w.Say("command.flags."+f.Name) == "" || f.Kind != kindSwitch && w.Say("command.values."+f.Kind.form()) == "" {
					t.Errorf("--%s is not explained", f.Name)
				}
			}
			for _, a := range s.Args {
				if w.Say("command.values."+a.Kind.form()) == "" {
					t.Errorf("%s is not explained", a.Kind.form())
				}
			}
			if s.Text != noText && w.Say("command.values."+s.textForm()) == "" {
				t.Errorf("%s is not explained", s.textForm())
			}
		}
		for _, kind := range strings.Fields("invisible commented noCommand unknown unknownNear missing bad badFlag badStep extra noFlag noFlagNear twice needsValue noValue late tooLong autoAlone second") {
			args := make([]string, strings.Count(en.Say("command.faults."+kind), "{"))
			for i := range args {
				args[i] = "PHASE"
			}
			if said := w.fault(fault{kind, args}); said == "" || strings.Contains(said, "{") {
				t.Errorf("mistake %s: %q", kind, said)
			}
		}
	}
}
