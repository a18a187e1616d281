package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"respbench/runner"
)

// The grammar of --rps:
//
//	RATE                     the whole run; 0 = as fast as replies allow, as in valkey-benchmark and without --rps
//	RATE:TIME,RATE:TIME,…    steps
//	RATE..RATE:TIME,…        ramps, which may be mixed with steps
//
// A RATE is a number of requests per second with an optional k or M; below 1 is possible (0.5 = one in two seconds). A
// step may be a pause (0:10s), and a ramp may begin or end at 0; but a schedule of nothing else is a typing error.

var errRates = errors.New("must be a rate (2000, 10k, 0.5; 0 = no limit), steps (10k:60s,20k:60s) or a ramp (1k..50k:60s)")

// maxRate is above what one machine can send; more is a typing error.
const maxRate = 1e9

// rates sets the offered load.
func rates(load *runner.Load) func(string) error {
	return func(text string) error {
		load.Schedule, load.Rate = nil, runner.Rate{}
		if text == "0" {
			return nil
		}
		steps, err := parseRates(text)
		if err != nil {
			return err
		}
		if len(steps) == 1 && steps[0].For == 0 {
			load.Rate.PerSecond = steps[0].From
			return nil
		}
		load.Schedule = steps
		return nil
	}
}

func parseRates(text string) ([]runner.RateStep, error) {
	parts := strings.Split(text, ",")
	steps := make([]runner.RateStep, 0, len(parts))
	left, most := longest, 0.0
	for _, part := range parts {
		step, err := parseRateStep(part)
		if left -= step.For; err == nil && left < 0 {
			err = errTooLong
		}
		if err != nil {
			return nil, err
		}
		if step.For == 0 && (len(parts) > 1 || step.From != step.To) {
			return nil, errRates // only a single steady rate lasts for ever
		}
		steps = append(steps, step)
		most = max(most, step.From, step.To)
	}
	if most == 0 {
		return nil, errRates
	}
	return steps, nil
}

func parseRateStep(text string) (step runner.RateStep, err error) {
	figure, time, timed := strings.Cut(text, ":")
	if timed {
		if step.For, err = parseDuration(time); err == errTooLong {
			return step, err
		}
		if err != nil || step.For <= 0 {
			return step, errRates
		}
	}
	from, to, ramp := strings.Cut(figure, "..")
	if !ramp {
		to = from
	}
	if step.From, err = parseLegRate(from, timed); err != nil {
		return step, err
	}
	step.To, err = parseLegRate(to, timed)
	return step, err
}

// parseLegRate is parseRate where a time says how long nothing may be sent.
func parseLegRate(text string, timed bool) (float64, error) {
	if timed && text == "0" {
		return 0, nil
	}
	return parseRate(text)
}

func parseRate(text string) (float64, error) {
	factor := 1.0
	if s, ok := strings.CutSuffix(text, "k"); ok {
		text, factor = s, 1e3
	} else if s, ok := strings.CutSuffix(text, "M"); ok {
		text, factor = s, 1e6
	}
	if text == "" || strings.Trim(text, "0123456789.") != "" {
		return 0, errRates
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v <= 0 || math.IsInf(v, 0) || v*factor > maxRate {
		return 0, errRates
	}
	return v * factor, nil
}
