package main

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

type links struct{ Job, Branch, PullRequest, Files string }

func comment(plan *pipelines.Pipeline, run metadata.Run, l links) string { return "" }
