//go:build race

package prompts

// raceDetector is true where the race detector makes all code slower.
const raceDetector = true
