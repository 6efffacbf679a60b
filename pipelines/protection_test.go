package pipelines

import (
	"strings"
	"testing"
)

func TestWhatMayBeOpened(t *testing.T) {
	for pattern, want := range map[string]string{
		"AGENTS.md": "", "docs/CLAUDE.md": "", ".github/workflows/ci.yml": "", ".github/workflows/*.yml": "", ".github/ISSUE_TEMPLATE/b?g.md": "", "action.yml": "", ".gitlab-ci.yml": "",
		"**": "too wide", "*": "too wide", "*.md": "too wide", ".github/**": "too wide", ".github/*": "too wide", ".github/workflows/*": "too wide", ".github/*/ci.yml": "too wide",
		".github/workflows/**.yml": "too wide", ".github/workflows/?.*": "too wide",
		".github/reprise/config.cue": "can never be opened", ".github/reprise/pipelines/*.cue": "can never be opened", ".reprise/issue-7/metadata.json": "can never be opened",
		".GitHub/reprise/x.cue": "can never be opened", ".github/reprise/vendor/example.com/a/b.cue": "can never be opened", "CODEOWNERS": "can never be opened", "docs/codeowners": "can never be opened", ".env": "can never be opened", ".gitmodules": "can never be opened",
		".claude/settings.json": "can never be opened", "sub/.mcp.json": "can never be opened", ".opencode/plugin/x.js": "can never be opened", ".github/hooks/x.json": "can never be opened", ".github/workflows/reprise.yml": "can never be opened", ".github/workflows/reprise*.yml": "can never be opened",
		"main.go": "is not protected", "docs/*.md": "is not protected", "LICENSE": "protected by the pipeline itself",
		"": "expected the path", "/AGENTS.md": "expected the path", "../AGENTS.md": "expected the path", "docs/../AGENTS.md": "expected the path", "docs/": "expected the path", "./AGENTS.md": "expected the path",
		`docs\AGENTS.md`: "has a", "docs/[A]GENTS.md": "has a",
	} {
		if got := WhyNotOpened(pattern, []string{"LICENSE"}); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
}

// Only the very spelling is open, and never what stays closed.
func TestOpened(t *testing.T) {
	open := []string{"AGENTS.md", ".github/workflows/*.y?l"}
	for p, want := range map[string]bool{
		"AGENTS.md": true, ".github/workflows/ci.yml": true,
		"agents.md": false, "docs/AGENTS.md": false, "AGENTS.md/x": false, ".GitHub/workflows/ci.yml": false, ".github/workflows/sub/ci.yml": false, ".github/workflows/ci.yaml": false,
		".github/workflows/reprise.yml": false, ".github/workflows/Reprise.yml": false, ".github/workflows/re\u200cprise.yml": false, "AGENTS.md ": false,
	} {
		if got := IsOpened(p, open); got != want {
			t.Errorf("%q is open: %t", p, got)
		}
	}
}

func TestNamed(t *testing.T) {
	there := []string{".github/workflows/ci.yml", ".github/dependabot.yml", "AGENTS.md"}
	for text, want := range map[string]string{
		"update ci.yml": ".github/workflows/ci.yml",
		"In `.github/workflows/ci.yml`, and in ci.yml too.":             ".github/workflows/ci.yml",
		"see https://github.com/o/r/blob/main/.github/workflows/ci.yml": ".github/workflows/ci.yml",
		"Add (AGENTS.md), .github/dependabot.yml:":                      "AGENTS.md .github/dependabot.yml",
		"CODEOWNERS, codeowners":                                        "CODEOWNERS",
		"Write docs/CLAUDE.md and ./action.yml.":                        "docs/CLAUDE.md action.yml",
		"A new workflow .github/workflows/new.yml":                      ".github/workflows/new.yml",
		"in deploy/prod.tf":                                             "deploy/prod.tf",
		"dependabot.yml is a name that others may have":                 "",
		"the file main.go of the agents, see /AGENTS.md/":               "",
		"https://example.com/AGENTS.md/x":                               "",
		"a.pem b.pem c.pem d.pem e.pem f.pem a.pem":                     "a.pem b.pem c.pem d.pem e.pem",
		"": "",
	} {
		if got := strings.Join(NamedPaths(text, there, []string{"deploy/**", "*.pem"}), " "); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// What something starts by itself at a push or in a checkout, and what other agents obey, is protected, and a pipeline
// can open it.
func TestWhatStartsByItself(t *testing.T) {
	for p := range strings.FieldsSeq(`.circleci/config.yml circle.yml buddy.yml codeship-steps.yml ci/x.gocd.yaml apprunner.yaml .do/app.yaml .restyled.yaml .Rprofile .gdbinit .mvn/extensions.xml .helix/languages.toml .agent/rules/x.md .iflow/x Jenkinsfile ci/Jenkinsfile.release azure-pipelines.yml azure-pipelines-nightly.yaml .travis.yml
		.drone.yml .woodpecker.yml .woodpecker/test.yaml .buildkite/pipeline.yml cloudbuild.yaml bitbucket-pipelines.yml appveyor.yml .cirrus.yml
		buildspec.yml .semaphore/semaphore.yml .tekton/x.yaml .gitea/workflows/x.yml .gitlab-ci.yml .gitlab/ci/x.yml .teamcity/settings.kts
		.scrutinizer.yml .taskcluster.yml .onedev-buildspec.yml .upsun/config.yaml wrangler.toml .trunk/trunk.yaml .builds/x.yml .build.yml bitrise.yml ci_scripts/ci_post_clone.sh .readthedocs.yaml netlify.toml vercel.json render.yaml renovate.json .renovaterc
		.mergify.yml .pre-commit-config.yaml lefthook.yml .lefthook.toml .overcommit.yml .lintstagedrc.json .devcontainer/devcontainer.json
		.vscode/tasks.json x.code-workspace .idea/runConfigurations/x.xml .zed/tasks.json .exrc .nvim.lua .dir-locals.el .envrc mise.toml
		.npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs .clinerules .clinerules/x.md .windsurfrules .kiro/steering/x.md .junie/guidelines.md
		AGENT.md QWEN.md .roo/rules/x.md .amazonq/rules/x.md crush.json .goosehints .aider.conf.yml .continue/rules/x.md .github/copilot-instructions.md`) {
		if !IsProtected(p, nil) || !IsOpened(p, []string{p}) {
			t.Errorf("%s is protected: %t, can be opened: %t", p, IsProtected(p, nil), IsOpened(p, []string{p}))
		}
	}
}
