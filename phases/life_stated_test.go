package phases

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// TestTamperedRecords tampers in ten ways with each of 100 runs that went some way: every one is found, and where it can
// be named, it is. None of the runs is found as it was.
func TestTamperedRecords(t *testing.T) {
	lives := rapid.Custom(func(rt *rapid.T) [][]byte {
		plan := testPlan()
		run := freshRun(plan)
		all := [][]byte{record(rt, run)}
		for moves := 0; run.Status == metadata.Running && moves < 40; moves++ {
			d := Decide(On(plan, run))
			run = play(rt, plan, run, d, draw(rt, d, moves))
			all = append(all, record(rt, run))
		}
		return all
	})
	for i := range 100 {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		records := lives.Example(i)
		honest := trailOf(records)
		stated, err := honest.Statement()
		testenv.Must(t, err)
		if wrong, err := honest.Verify(stated); err != nil || len(wrong) > 0 {
			t.Fatalf("run %d as it was: %v, %v", i, wrong, err)
		}
		last := len(records) - 1
		at := r.IntN(last + 1)
		with := func(at int, data []byte) metadata.Trail {
			all := slices.Clone(records)
			all[at] = data
			return trailOf(all)
		}
		work, file := trailOf(records), trailOf(records)
		work.Work, file.Files = oneByte(r, work.Work), maps.Clone(file.Files)
		file.Files["00_plan/plan.md"] = oneByte(r, file.Files["00_plan/plan.md"])
		verdict, named := judgedOtherwise(t, records[last])
		lost := r.IntN(last)
		for how, c := range map[string]struct {
			trail  metadata.Trail
			stated []byte
			named  string
		}{
			"a byte of the record":    {with(last, []byte(oneByte(r, string(records[last])))), stated, ""},
			"a byte of a record":      {with(at, []byte(oneByte(r, string(records[at])))), stated, ""},
			"a line of the record":    {with(last, withoutLine(r, records[last])), stated, ""},
			"a verdict, or the cost":  {with(last, verdict), stated, named},
			"a commit left out":       {trailOf(slices.Delete(slices.Clone(records), lost, lost+1)), stated, honest.Commits[lost]},
			"a commit made twice":     {trailOf(slices.Insert(slices.Clone(records), lost, records[lost])), stated, ""},
			"the work":                {work, stated, "gitTree"},
			"a file":                  {file, stated, "00_plan/plan.md"},
			"a byte of the statement": {honest, []byte(oneByte(r, string(stated))), ""},
			"a line of the statement": {honest, withoutLine(r, stated), ""},
		} {
			wrong, err := c.trail.Verify(c.stated)
			if err == nil && !strings.Contains(fmt.Sprint(wrong), c.named) || err == nil && len(wrong) == 0 {
				t.Errorf("run %d, %s: found %v, want %s", i, how, wrong, c.named)
			}
		}
	}
}

func record(rt *rapid.T, run metadata.Run) []byte {
	data, err := metadata.Format(run)
	if err != nil {
		rt.Fatal(err)
	}
	return data
}

// trailOf is the history that records would have in git: each name depends on all before it.
func trailOf(records [][]byte) metadata.Trail {
	t := metadata.Trail{Records: records, Work: hashed("work"), Files: map[string]string{"00_plan/plan.md": hashed("plan")}}
	commit := ""
	for _, data := range records {
		commit = hashed(commit + string(data))
		t.Commits = append(t.Commits, commit)
		t.Files[metadata.File] = hashed(string(data))
	}
	return t
}

func hashed(text string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(text))) }

func oneByte(r *rand.Rand, text string) string {
	at := r.IntN(len(text))
	return text[:at] + string(rune('!'+(text[at]-'!'+1+byte(r.IntN(90)))%94)) + text[at+1:]
}

func withoutLine(r *rand.Rand, text []byte) []byte {
	lines := bytes.SplitAfter(bytes.TrimRight(text, "\n"), []byte("\n"))
	at := r.IntN(len(lines))
	return bytes.Join(slices.Delete(lines, at, at+1), nil)
}

// judgedOtherwise is a record in which a verdict says the opposite, or that cost more where there is none, and where
// the statement shows that.
func judgedOtherwise(t *testing.T, data []byte) (changed []byte, named string) {
	run, err := metadata.Parse(data, metadata.File)
	testenv.Must(t, err)
	run.Cost.USD++
	named = "total_cost_usd"
	for i, a := range run.Attempts {
		if a.Verdict != "" {
			run.Attempts[i].Verdict = map[metadata.Ruling]metadata.Ruling{metadata.Pass: metadata.Fail}[a.Verdict]
			if run.Attempts[i].Verdict == "" {
				run.Attempts[i].Verdict = metadata.Pass
			}
			named = fmt.Sprintf("%d %s %s", a.N, a.Phase, a.Step)
		}
	}
	if changed, err = metadata.Format(run); err != nil {
		t.Fatal(err)
	}
	return changed, named
}
