// Package choice says which pipeline an issue takes, and why.
package choice

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/cause"
	"github.com/reprise-ci/reprise/pipelines"
)

// Issue is what the choice of a pipeline looks at.
type Issue struct {
	Title  string
	Labels []string
	Type   string // GitHub's issue type, or empty
}

// labelPrefix begins a label that names a pipeline.
const labelPrefix = "reprise:"

// last is the pipeline of issues that no other one selects.
const last = "full"

// Make finds the pipeline of an issue and says why it is that one: the one
// that is named, else the one in a label such as "reprise:fix", else the first of
// the repository whose select matches, else the one that the repository's settings
// name, else the first built-in one whose select matches, else full. They are asked in the order of
// Sources.Names. A mistake in one that has to be asked is an error: to leave
// it out would choose another one without a word.
func Make(ctx context.Context, s pipelines.Sources, issue Issue, named string) (p *pipelines.Pipeline, why cause.Cause, err error) {
	switch label, err := labelled(issue.Labels); {
	case s.Path != "":
		p, err := pipelines.Load(ctx, s, named)
		return p, cause.Of("chosen_file", "the file {file} was named", "file", s.Path), err
	case named != "":
		p, err := pipelines.Load(ctx, s, named)
		return p, cause.Of("chosen_name", "{name} was named", "name", quoted(named)), err
	case err != nil:
		return nil, cause.Cause{}, err
	case label != "":
		if p, err = pipelines.Load(ctx, s, strings.TrimPrefix(label, labelPrefix)); err != nil {
			return nil, cause.Cause{}, fmt.Errorf("label %q: %w", label, err)
		}
		return p, hasLabel(label), nil
	}
	own, err := s.OwnNames()
	if err != nil {
		return nil, cause.Cause{}, err
	}
	names, err := s.Names()
	if err != nil {
		return nil, cause.Cause{}, err
	}
	usual, err := s.UsualPipeline(ctx)
	if err != nil {
		return nil, cause.Cause{}, err
	}
	if usual != "" {
		names = own
	}
	for _, name := range names {
		loaded, err := pipelines.Load(ctx, s, name)
		if err != nil {
			return nil, cause.Cause{}, err
		}
		if name == last {
			p = loaded
		}
		if match := matches(loaded.Select, issue); match.Code != "" {
			return loaded, cause.Of("chosen_by", "{match}, which {name} selects", "match", match, "name", quoted(loaded.Name)), nil
		}
	}
	if usual != "" {
		p, err := pipelines.Load(ctx, s, usual)
		return p, cause.Of("chosen_usual", "the settings of the repository name {name} for it", "name", quoted(usual)), err
	}
	if p == nil {
		p, err = pipelines.Load(ctx, s, last)
	}
	return p, cause.Of("chosen_last", "no other pipeline selects this issue"), err
}

// labelled returns the label that names a pipeline, or "".
func labelled(labels []string) (string, error) {
	var found []string
	for _, l := range labels {
		if len(l) > len(labelPrefix) && strings.EqualFold(l[:len(labelPrefix)], labelPrefix) {
			found = append(found, labelPrefix+strings.ToLower(l[len(labelPrefix):]))
		}
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("the labels %s each name a pipeline; keep one of them", strings.Join(found, " and "))
	}
}

func quoted(name string) string { return fmt.Sprintf("%q", name) }

func hasLabel(label string) cause.Cause {
	return cause.Of("issue_label", "the issue has the label {label}", "label", quoted(label))
}

// matches says what of the issue is selected, or nothing if nothing is.
func matches(s pipelines.Select, issue Issue) cause.Cause {
	for _, want := range s.Labels {
		for _, has := range issue.Labels {
			if strings.EqualFold(want, has) {
				return hasLabel(has)
			}
		}
	}
	if s.Title != "" {
		if re, err := regexp.Compile("(?i:" + s.Title + ")"); err == nil && re.MatchString(issue.Title) {
			return cause.Of("issue_title", "the issue's title matches {title}", "title", quoted(s.Title))
		}
	}
	if s.Type != "" && strings.EqualFold(s.Type, issue.Type) {
		return cause.Of("issue_type", "the issue is of type {type}", "type", quoted(issue.Type))
	}
	return cause.Cause{}
}
