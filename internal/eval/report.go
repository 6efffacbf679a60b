package eval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
)

// report is what an evaluation has found out, for programs.
type report struct {
	Suite        string       `json:"suite"`
	Variants     []score      `json:"variants"`
	Cases        []score      `json:"cases"`
	Comparisons  []comparison `json:"comparisons"`
	Results      []result     `json:"results"`
	view.Dollars              // of all that are over
	Missing      int          `json:"missing"`           // trials that are not over
	Short        bool         `json:"budget_ended"`      // before all were over
	Unanswered   []string     `json:"unanswered"`        // trials that are not over, as no service answered, and why
	Folder       string       `json:"results_in"`        // where the results are kept
	Earlier      int          `json:"taken_earlier"`     // results that were there already
	Reviews      []worth      `json:"reviews,omitempty"` // of --review: what those of each variant are worth
}

// reportOn sums up results of a suite, of which so many trials were asked for.
func reportOn(s *suite, all []result, asked int) report {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b result) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), strings.Compare(a.Case, b.Case), strings.Compare(a.Variant, b.Variant))
	})
	r := report{Suite: s.dir, Variants: []score{}, Cases: []score{}, Results: text.List(all), Missing: asked - len(all)}
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
		r.Variants = append(r.Variants, scoreOf(all, v.Name, ""))
	}
	for _, c := range s.Cases {
		for _, v := range s.Variants {
			r.Cases = append(r.Cases, scoreOf(all, v.Name, c.Name))
		}
	}
	r.Comparisons = compare(all, names)
	for _, one := range all {
		r.Dollars = r.Plus(one.Facts.dollars())
	}
	return r
}

// allSolved reports whether every trial was solved, and none is missing.
func (r report) allSolved() bool {
	return r.Missing == 0 && !slices.ContainsFunc(r.Results, func(one result) bool { return !one.Solved })
}

func (r report) show(out terminal.Report) {
	if r.Reviews != nil {
		r.showReviews(out)
	} else {
		r.showCases(out)
	}
	r.showEnd(out)
}

// showCases prints what was solved.
func (r report) showCases(out terminal.Report) {
	t := text.Table{Align: "lrrrrrr"}
	t.Add("variant", "solved", "95 % between", "cost", "time", "calls", "revises")
	for _, s := range r.Variants {
		t.Add(s.Variant, s.share(), bounds(s.Share), s.CostShort(), took(s.Seconds), decimal(s.Calls), decimal(s.Revises))
	}
	out.Fitted(&t, out.Heads)
	t = text.Table{Align: "llrrrrr"}
	t.Add("case", "variant", "solved", "cost", "time", "calls", "revises")
	before := ""
	for _, s := range r.Cases {
		t.Add(text.If(s.Case != before, s.Case), s.Variant, s.share(), s.CostShort(), took(s.Seconds), decimal(s.Calls), decimal(s.Revises))
		before = s.Case
	}
	out.Line("")
	out.Fitted(&t, out.Heads)
	out.Line("")
	for _, c := range r.Comparisons {
		out.Line("%s", c)
	}
	few(out, "not solved: ", r.misses())
}

// showEnd prints what is said of every evaluation.
func (r report) showEnd(out terminal.Report) {
	out.Line("%s, %s in all; the results are in %s", text.Plural(len(r.Results), "run"), r.CostShort(), r.Folder)
	few(out, "not over: ", r.Unanswered)
	if r.Missing > 0 {
		why := "the same command goes on with them"
		if r.Short {
			why = "the budget has less left than they cost; with a larger --budget-usd the same command goes on with them"
		}
		out.Line("%s", out.Yellow(fmt.Sprintf("This is a part: %s not over (%s)", text.Plural(r.Missing, "run")+text.If(r.Missing == 1, " is")+text.If(r.Missing != 1, " are"), why)))
	}
}

// few prints what is to be told, as far as people read it, each behind a word that says why.
func few(out terminal.Report, why string, all []string) {
	const most = 20
	for _, one := range all[:min(len(all), most)] {
		out.Line("%s", out.Red(why)+text.Flat(one))
	}
	if more := len(all) - most; more > 0 {
		out.Line("and %d more, see --json", more)
	}
}

// misses says, for each case and variant, why the first run that is not solved is not.
func (r report) misses() (all []string) {
	for _, s := range r.Cases {
		at := slices.IndexFunc(r.Results, func(one result) bool { return one.Variant == s.Variant && one.Case == s.Case && !one.Solved })
		if at >= 0 {
			one := r.Results[at]
			all = append(all, one.trial.String()+": "+one.Misses[0]+text.If(len(one.Misses) > 1, fmt.Sprintf(" (and %d more)", len(one.Misses)-1)))
		}
	}
	return all
}

// share writes "18 of 20".
func (s score) share() string { return fmt.Sprintf("%d of %d", s.Solved, s.Runs) }

// bounds writes "64 and 95 %".
func bounds(i interval) string { return fmt.Sprintf("%.0f and %.0f %%", 100*i.Low, 100*i.High) }

func took(seconds float64) string {
	return text.Duration(time.Duration(seconds * float64(time.Second)))
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// String says in a sentence what can be seen.
func (c comparison) String() string {
	if c.Runs == 0 {
		return fmt.Sprintf("%s and %s: no case was run by both", c.First, c.Second)
	}
	if !c.Differs {
		return fmt.Sprintf("%s and %s: no difference can be seen with %s of each", c.First, c.Second, text.Plural(c.Runs, "run"))
	}
	better, more := c.First, c.More
	if more < 0 {
		better, more = c.Second, -more
	}
	return fmt.Sprintf("%s and %s: %s solves %d of %s more", c.First, c.Second, better, more, text.Plural(c.Runs, "run"))
}

// results are what is known of a suite so far: a file for each trial that is over, and
// for each case that was looked at before the work.
type results struct {
	dir  string
	lock *os.File
}

// resultsFolder gives the folder of the results of a suite, unless one is named: beside
// the runs on this machine, by the path of the suite.
func resultsFolder(env environ.Env, suite string) (string, error) {
	full, err := filepath.Abs(suite)
	if err != nil {
		return "", err
	}
	dir, err := workspace.HomeBase(env, full, "eval", filepath.Base(full)+"-"+phases.DigestOf([]byte(full))[:8])
	if err != nil {
		return "", fmt.Errorf("%w, or one for results with --results", err)
	}
	return dir, nil
}

// openResults takes the folder for this process alone.
func openResults(ctx context.Context, dir string) (*results, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := folders.TakeLock(ctx, dir)
	if held := (*folders.Held)(nil); errors.As(err, &held) {
		return nil, fmt.Errorf("%s: another evaluation is at work there (process %d): wait for it, or name another folder with --results", dir, held.PID)
	}
	return &results{dir, file}, err
}

func (r *results) close() error { return folders.FreeLock(r.lock) }

func (r *results) forget() error {
	var failed []error
	for _, part := range []string{"trials", "cases", "work", "homes"} {
		failed = append(failed, folders.RemoveAll(filepath.Join(r.dir, part)))
	}
	return errors.Join(failed...)
}

func (r *results) file(t trial) string {
	return filepath.Join(r.dir, "trials", t.Variant, t.Case, fmt.Sprintf("%d.json", t.Run))
}

// load gives the result of a trial, if it is over and was of the same key.
func (r *results) load(t trial, key string) (out result, _ bool, err error) {
	data, err := os.ReadFile(r.file(t))
	if errors.Is(err, fs.ErrNotExist) {
		return out, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		return out, false, fmt.Errorf("%s: %w; remove it to have the trial anew", r.file(t), err)
	}
	return out, out.Key == key && out.trial == t, nil
}

func (r *results) save(out result) error {
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(r.file(out.trial), append(data, '\n'))
}

// writeWhole writes a file as a whole, or not at all, and the folders above it, for their user alone.
func writeWhole(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(file, data, 0o600)
}

// looked reports whether a case of this key was looked at before and found good.
func (r *results) looked(c Case, key string) bool {
	data, err := os.ReadFile(filepath.Join(r.dir, "cases", c.Name))
	return err == nil && strings.TrimSpace(string(data)) == key
}

// key is a digest of all that a case is made from.
func (c Case) key(ctx context.Context, environ []string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{c.dir, c.Repo, c.Issue, c.Hidden, c.Stubs} {
		err, commit := error(nil), c.Commit
		switch _, missing := os.Stat(name); {
		case missing != nil: // such as the issue of a case that is a review
			continue
		case !isRepository(name):
			err = addFiles(sum, name)
		case commit == "":
			commit, err = repository{dir: name, environ: environ}.git(ctx, "rev-parse", "HEAD")
		}
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(sum, "%s %s\n", filepath.Base(name), commit) // a hash takes all
	}
	if c.of != "" {
		_, _ = fmt.Fprintf(sum, "review %v\n", c.Mutation) // a hash takes all
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// key is a digest of all that a variant is made from, by this version of reprise.
func (v variant) key() (string, error) {
	sum := sha256.New()
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	_, _ = fmt.Fprintf(sum, "%s %s\n", environ.VersionText(), data) // a hash takes all
	for _, name := range []string{v.Pipeline, v.Prompts} {
		if filepath.IsAbs(name) {
			if err := addFiles(sum, name); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// addFiles adds a file, or all files of a folder, with their names.
func addFiles(sum hash.Hash, top string) error {
	return filepath.WalkDir(top, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return filepath.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(top, file)
		_, _ = fmt.Fprintf(sum, "%q %d\n", name, len(data)) // a hash takes all
		_, _ = sum.Write(data)
		return err
	})
}

// junit writes the results in the form of JUnit, as most CI systems read it: one suite for
// each variant.
func (r report) junit() string {
	var b strings.Builder
	b.WriteString(xml.Header + "<testsuites>\n")
	for _, v := range r.Variants {
		fmt.Fprintf(&b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" time=\"%.3f\">\n", inXML(v.Variant), v.Runs, v.Runs-v.Solved, v.Seconds*float64(v.Runs))
		for _, one := range r.Results {
			if one.Variant != v.Variant {
				continue
			}
			fmt.Fprintf(&b, "    <testcase classname=\"%s\" name=\"run %d\" time=\"%.3f\">", inXML(one.Case), one.Run, one.Facts.Seconds)
			if !one.Solved {
				misses := text.FlatAll(one.Misses)
				fmt.Fprintf(&b, "\n      <failure message=\"%s\">%s</failure>\n    ", inXML(misses[0]), inXML(strings.Join(misses, "\n")))
			}
			b.WriteString("</testcase>\n")
		}
		b.WriteString("  </testsuite>\n")
	}
	return b.String() + "</testsuites>\n"
}

func inXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a builder takes all
	return b.String()
}
