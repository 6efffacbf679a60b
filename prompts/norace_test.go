//go:build !race

package prompts

const raceDetector = false
