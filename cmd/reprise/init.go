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
pinned to a commit, and ` + agentsDir + `, which pins the agent program by a
lock file of npm. It says what is left to do by hand, and sends nothing anywhere.`,
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

// initialize writes the files and says what is next.
func initialize(ctx context.Context, env environment, o initOptions) error {
	files, err := initFiles(o.uses, o.agent)
	if err != nil {
		return err
	}
	top, err := topOf(ctx, o.repo)
	if err != nil {
		return err
	}
	wrote, err := writeFiles(top, files, o.force)
	if err != nil {
		return err
	}
	did := workflowFile + " is up to date"
	if len(wrote) > 0 {
		did = "Wrote " + strings.Join(wrote, ", ")
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

// writeFiles writes those files that are not there as they should be, and gives
// their names. Others in their place are written over only if force is set;
// without it, one of these is enough for nothing to be written.
func writeFiles(top string, files []initFile, force bool) (wrote []string, err error) {
	root, err := os.OpenRoot(top) // a link in the repository leads nowhere else
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	missing, others, err := compareFiles(root, files)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 && !force {
		names := make([]string, len(others))
		for i, f := range others {
			names[i] = filepath.Join(top, f.name)
		}
		return nil, usagef("what init would write differs from what is there in %s; look at what you changed, then use --force to write over it", strings.Join(names, " and "))
	}
	for _, f := range append(missing, others...) {
		if err := root.MkdirAll(filepath.Dir(f.name), 0o755); err != nil {
			return nil, fmt.Errorf("make the folder of %s: %w", f.name, err)
		}
		if err := root.WriteFile(f.name, []byte(f.text), 0o644); err != nil {
			return nil, fmt.Errorf("write %s: %w", f.name, err)
		}
		wrote = append(wrote, f.name)
	}
	return wrote, nil
}

// compareFiles gives those files that are missing, and those in whose place
// there is something else.
func compareFiles(root *os.Root, files []initFile) (missing, others []initFile, err error) {
	for _, f := range files {
		old, err := root.ReadFile(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, f)
		case err != nil:
			return nil, nil, fmt.Errorf("read %s: %w", f.name, err)
		case string(old) != f.text:
			others = append(others, f)
		}
	}
	return missing, others, nil
}

// nextSteps says what a person has to do before the workflow works.
func nextSteps(agent agentInstall, uses string) string {
	steps := []string{
		fmt.Sprintf("Store the key of %s as a secret of the repository:\n     gh secret set %s", agent.Title, agent.Secret),
		"Let workflows open pull requests: Settings, Actions, General,\n     \"Allow GitHub Actions to create and approve pull requests\".",
		"Create the label that starts a run:\n     gh label create reprise",
		"Commit the folder .github to the default branch; GitHub reads the workflow\n     from there.",
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
