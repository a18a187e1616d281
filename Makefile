# respbench. `make` alone lists the targets.

GO      ?= go
FUZZ    ?= 10000x
PAIRS   ?= 10

.DEFAULT_GOAL := help
.PHONY: help build test race lint fuzz bench floor peers versus arrows

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the binary, ./respbench
	$(GO) build -trimpath -ldflags '-s -w' -o respbench ./cmd/respbench

test: ## all tests; those that need redis-server say so when it is absent
	$(GO) test ./...

race: ## all tests under the race detector, with fewer seeds
	$(GO) test -race -short ./...

lint: ## gofmt, vet (here and for macOS), staticcheck
	@test -z "$$(gofmt -l .)" || { echo "gofmt would change:"; gofmt -l .; exit 1; }
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) tool staticcheck ./...

arrows: ## who imports whom
	@.ci/arrows

fuzz: ## every fuzz target for FUZZ inputs (10000x) or as long (1m)
	@.ci/fuzz $(FUZZ)

bench: ## each benchmark once
	$(GO) test -run '^$$' -bench . -benchtime 1x ./...

floor: ## CPU per request against the physical floor, and 5000 connections against 50; medians of 25 interleaved pairs
	$(GO) test -run '^$$' -bench 'AgainstFloor|ManyConnections' -benchtime 25x -timeout 60m .

peers: ## side by side with the load generators that are installed, medians of PAIRS (10) pairs
	$(GO) test -run '^$$' -bench Peers -benchtime $(PAIRS)x -timeout 60m .

versus: ## kvstore against redis-server, medians of PAIRS (10) pairs
	$(GO) test -run '^$$' -bench Versus -benchtime $(PAIRS)x -timeout 120m .
