package pipelines

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Issue is what the choice of a pipeline looks at.
type Issue struct {
	Title  string
	Labels []string
	Type   string // GitHub's issue type, or empty
}

// labelPrefix begins a label that names a pipeline.
const labelPrefix = "reprise:"

// Choose finds the pipeline of an issue and says why it is that one: the one
// that is named, else the one in a label such as "reprise:fix", else the first
// whose select matches, else full. Where the issue decides, the pipelines of
// the repository are asked before the built-in ones, both in the order of
// Sources.Names. A mistake in one that has to be asked is an error: to leave
// it out would choose another one without a word.
func Choose(ctx context.Context, s Sources, issue Issue, named string) (p *Pipeline, why string, err error) {
	switch label, err := labelled(issue.Labels); {
	case s.Path != "":
		p, err := Load(ctx, s, named)
		return p, fmt.Sprintf("the file %s was named", s.Path), err
	case named != "":
		p, err := Load(ctx, s, named)
		return p, fmt.Sprintf("%q was named", named), err
	case err != nil:
		return nil, "", err
	case label != "":
		if p, err = Load(ctx, s, strings.TrimPrefix(label, labelPrefix)); err != nil {
			return nil, "", fmt.Errorf("label %q: %w", label, err)
		}
		return p, fmt.Sprintf("the issue has the label %q", label), nil
	}
	names, err := s.Names()
	if err != nil {
		return nil, "", err
	}
	for _, name := range names {
		p, err := Load(ctx, s, name)
		if err != nil {
			return nil, "", err
		}
		if why := p.Select.matches(issue); why != "" {
			return p, fmt.Sprintf("%s, which %q selects", why, p.Name), nil
		}
	}
	p, err = Load(ctx, s, "full")
	return p, "no other pipeline selects this issue", err
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

// matches says what of the issue is selected, or "" if nothing is.
func (s Select) matches(issue Issue) string {
	for _, want := range s.Labels {
		for _, has := range issue.Labels {
			if strings.EqualFold(want, has) {
				return fmt.Sprintf("the issue has the label %q", has)
			}
		}
	}
	if s.Title != "" {
		if re, err := regexp.Compile("(?i:" + s.Title + ")"); err == nil && re.MatchString(issue.Title) {
			return fmt.Sprintf("the issue's title matches %q", s.Title)
		}
	}
	if s.Type != "" && strings.EqualFold(s.Type, issue.Type) {
		return fmt.Sprintf("the issue is of type %q", issue.Type)
	}
	return ""
}
