package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
)

// workflowFile is where GitHub finds the workflow, from the top of a
// repository.
const workflowFile = ".github/workflows/reprise.yml"

// initOptions is what the command line of init says.
type initOptions struct {
	repo, agent, uses string
	force             bool
}

func initCommand(env environment) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Write the GitHub workflow that runs reprise on issues",
		Long: `init writes ` + workflowFile + ` into the repository, with every action
pinned to a commit and the agent program to a version, and says what is left to
do by hand. It sends nothing anywhere.`,
		Example: "  reprise init\n  reprise init --agent codex",
		RunE: func(c *cobra.Command, _ []string) error {
			return initialize(c.Context(), env, o)
		},
	}
	repoFlag(c, &o.repo)
	c.Flags().StringVar(&o.agent, "agent", defaultAgent, "agent program to install: claude, codex or gemini")
	c.Flags().StringVar(&o.uses, "uses", defaultUses(), "the action to call, as OWNER/REPO@VERSION")
	c.Flags().BoolVar(&o.force, "force", false, "write over a workflow that is there")
	return c
}

// initialize writes the workflow and says what is next.
func initialize(ctx context.Context, env environment, o initOptions) error {
	text, err := workflowText(o.uses, o.agent)
	if err != nil {
		return err
	}
	top, err := topOf(ctx, o.repo)
	if err != nil {
		return err
	}
	changed, err := writeWorkflow(top, text, o.force)
	if err != nil {
		return err
	}
	did := "Wrote " + workflowFile
	if !changed {
		did = workflowFile + " is up to date"
	}
	_, err = fmt.Fprintf(env.stdout, "%s.\n\n%s", did, nextSteps(agentInstalls()[o.agent], o.uses))
	return err
}

// topOf finds the top of the repository that a folder is in. A repository
// without a commit has one, too: the workflow may be its first file.
func topOf(ctx context.Context, dir string) (string, error) {
	src, err := git.Find(ctx, dir)
	var unborn *git.NoCommits
	if errors.As(err, &unborn) {
		return unborn.Dir, nil
	}
	if err != nil {
		return "", err
	}
	return src.Dir, nil
}

// writeWorkflow writes the workflow unless it is there already, and reports
// whether it did. Another one is written over only if force is set.
func writeWorkflow(top, text string, force bool) (bool, error) {
	root, err := os.OpenRoot(top) // a link in the repository leads nowhere else
	if err != nil {
		return false, err
	}
	defer root.Close()
	old, err := root.ReadFile(workflowFile)
	switch {
	case err == nil && string(old) == text:
		return false, nil
	case err == nil && !force:
		return false, usagef("%s is there already, and differs; look at what you changed in it, then use --force to write over it", filepath.Join(top, workflowFile))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("read %s: %w", workflowFile, err)
	}
	if err := root.MkdirAll(filepath.Dir(workflowFile), 0o755); err != nil {
		return false, fmt.Errorf("make the folder of %s: %w", workflowFile, err)
	}
	if err := root.WriteFile(workflowFile, []byte(text), 0o644); err != nil {
		return false, fmt.Errorf("write %s: %w", workflowFile, err)
	}
	return true, nil
}

// nextSteps says what a person has to do before the workflow works.
func nextSteps(agent agentInstall, uses string) string {
	steps := []string{
		fmt.Sprintf("Store the key of %s as a secret of the repository:\n     gh secret set %s", agent.Title, agent.Secret),
		"Let workflows open pull requests: Settings, Actions, General,\n     \"Allow GitHub Actions to create and approve pull requests\".",
		"Create the label that starts a run:\n     gh label create reprise",
		"Commit " + workflowFile + " to the default branch; GitHub reads it from there.",
		"Write a comment on an issue: /run",
	}
	var out strings.Builder
	out.WriteString("What is left to do:\n\n")
	for i, s := range steps {
		fmt.Fprintf(&out, "  %d. %s\n", i+1, s)
	}
	if uses != localAction {
		fmt.Fprintf(&out, "\nTo be sure which code runs, call the action by a commit instead of %s.\n", uses)
	}
	out.WriteString("\nWhat is still missing after that is said by: reprise doctor\n")
	fmt.Fprintf(&out, "More: %s/blob/main/docs/github.md\n", projectPage)
	return out.String()
}
