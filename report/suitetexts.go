package report

import (
	"fmt"
	"slices"
)

// Languages are the languages of the suite's reports.
var Languages = []string{"en", "zh"}

// texts looks up the words of one language; "%" verbs are filled by f.
type texts struct{ column int }

// textsFor returns the words of a language; English when it is unknown.
func textsFor(lang string) texts {
	return texts{max(slices.Index(Languages, lang), 0)}
}

// f is the text of a key with its verbs filled. A key that is not in the table shows itself, and a test
// finds it.
func (t texts) f(key string, args ...any) string {
	row, ok := words[key]
	if !ok {
		return key
	}
	if len(args) == 0 {
		return row[t.column]
	}
	return fmt.Sprintf(row[t.column], args...)
}

// words is the one table of texts: key, English, Chinese. Verbs stand in the same order in both.
var words = map[string][2]string{
	"colon":          {": ", "："},
	"started":        {"Started", "开始时间"},
	"elapsed":        {"Duration", "总耗时"},
	"parameters":     {"Parameters", "参数"},
	"rounds":         {"Rounds", "轮次"},
	"rounds of each": {"%d of each strategy and mode, strategies interleaved", "每种策略、每种模式 %d 轮，策略交错执行"},
	"rule": {"Trimmed mean: from %d rounds up, the one round farthest from the median QPS is dropped (the later one on a tie) and the rest is averaged",
		"去异常规则：满 %d 轮时，按 QPS 与中位数的偏差剔除偏差最大的 1 轮（相同时剔除较后的一轮），再对剩余轮次取均值"},
	"interrupted": {"This run was interrupted: only what was complete is shown", "本次运行被中断：只列出已完成的部分"},
	"versions":    {"Servers", "被测服务"},

	"raw":          {"%s: rounds", "%s：原始各轮"},
	"trimmed":      {"%s: trimmed means", "%s：去异常后均值"},
	"overhead":     {"%s: cost of persistence (baseline %s, trimmed means)", "%s：协议开销（基线 %s，去异常后）"},
	"spread":       {"%s: how far the means can be trusted", "%s：离散程度与置信区间"},
	"latency":      {"%s: latency of all rounds (ms, histograms merged)", "%s：各轮合并后的延迟（ms，直方图合并）"},
	"failures":     {"Failed rounds and retries", "失败轮次与重试"},
	"warmups":      {"Warm-up rounds (not in any mean)", "预热轮次（不计入均值）"},
	"before after": {"Before and after", "改造前后"},
	"conclusions":  {"Conclusions", "简要结论"},
	"environment":  {"Environment", "环境"},
	"repeat":       {"Command that repeats this run", "复现命令"},
	"notes":        {"Notes", "备注"},
	"configs":      {"Configuration in force, as the servers gave it back", "服务端实际生效的配置"},

	"system": {"System", "系统"}, "strategy": {"Strategy", "策略"}, "mode": {"Mode", "模式"},
	"mean qps": {"Mean QPS", "均值QPS"}, "mean us": {"Mean us/op", "均值us/op"}, "mean elapsed": {"Mean elapsed(s)", "均值elapsed(s)"},
	"dropped round": {"Dropped round", "剔除轮次"}, "dropped qps": {"Dropped QPS", "剔除QPS"},
	"trimmed qps": {"Trimmed mean QPS", "去异常均值QPS"}, "trimmed us": {"Trimmed mean us/op", "去异常均值us/op"},
	"not trimmed": {"not trimmed", "未剔除"},
	"left":        {"Rounds left", "剩余轮数"},
	"qps change":  {"%s QPS change", "%s QPS变化"}, "us change": {"%s us/op change", "%s us/op变化"},
	"rounds ok": {"Rounds ok", "有效轮次"}, "of": {"%d of %d", "%d / %d"},
	"median": {"Median QPS", "中位数QPS"}, "sd": {"Sample SD", "样本标准差"}, "ci": {"95% CI of the mean QPS", "均值QPS的95%置信区间"},
	"warning": {"Warning", "提示"}, "attempts": {"Failed attempts", "失败次数"}, "why": {"Why", "原因"},
	"round": {"Round", "轮次"}, "status": {"Status", "状态"}, "failed": {"failed", "失败"},
	"before": {"Before", "改造前"}, "after": {"After", "改造后"}, "change": {"Change", "变化"}, "setting": {"Setting", "配置项"}, "value": {"Value", "值"},
	"ok": {"ok, after retries", "重试后成功"}, "interrupted round": {"interrupted", "被中断"},
	"warm-up": {"warm-up %d", "预热 %d"},

	"scatters":  {"rounds scatter: CV %.2f%%", "各轮离散较大：CV %.2f%%"},
	"outlier":   {"round %d (%.2f) lies apart from the others", "第 %d 轮（%.2f）偏离其他轮次"},
	"few":       {"fewer than %d rounds: no interval", "少于 %d 轮：无置信区间"},
	"some fail": {"%d of %d rounds failed or were interrupted", "%d / %d 轮失败或被中断"},

	"fastest":            {"%s, %s: the fastest is %s (%.2f QPS).", "%s，%s：最快的是 %s（%.2f QPS）。"},
	"fastest tie":        {"%s, %s: %s has the highest trimmed mean (%.2f QPS), but there is no difference to %s: the 95%% intervals overlap.", "%s，%s：%s 去异常均值最高（%.2f QPS），但与 %s 无显著差异（95%% 置信区间重叠）。"},
	"fastest persists":   {"%s, %s: the fastest that persists is %s (%.2f QPS).", "%s，%s：限定必须持久化时，最快的是 %s（%.2f QPS）。"},
	"persists tie":       {"%s, %s: of those that persist, %s has the highest trimmed mean (%.2f QPS), but there is no difference to %s: the 95%% intervals overlap.", "%s，%s：限定必须持久化时，%s 去异常均值最高（%.2f QPS），但与 %s 无显著差异（95%% 置信区间重叠）。"},
	"between unknown":    {"%s against %s, %s: cannot tell whether they differ: fewer than %d rounds.", "%s 对 %s，%s：轮次不足，无法判断是否有差异（少于 %d 轮）。"},
	"same between":       {"%s against %s, %s: no difference at their best persisting strategies, %s and %s: the 95%% intervals overlap.", "%s 对 %s，%s：最快的持久化策略 %s 与 %s 无显著差异（95%% 置信区间重叠）。"},
	"costs":              {"%s, %s: %s costs %s QPS and %s us/op against %s.", "%s，%s：%s 的开销为 QPS %s、us/op %s（基线 %s）。"},
	"gains":              {"%s, %s: %s is faster than its baseline: %s QPS and %s us/op against %s.", "%s，%s：%s 快于基线：QPS %s、us/op %s（基线 %s）。"},
	"no difference":      {"%s, %s: no difference between %s and %s: the 95%% intervals overlap.", "%s，%s：%s 与 %s 无显著差异（95%% 置信区间重叠）。"},
	"cannot tell any":    {"%s, %s: cannot tell whether strategies differ: fewer than %d rounds.", "%s，%s：轮次不足，无法判断各策略是否有差异（少于 %d 轮）。"},
	"cannot tell":        {"%s, %s: cannot tell whether %s and %s differ: fewer than %d rounds.", "%s，%s：轮次不足，无法判断 %s 与 %s 是否有差异（少于 %d 轮）。"},
	"between":            {"%s against %s, %s: %s QPS (each at its best persisting strategy: %s and %s).", "%s 对 %s，%s：QPS %s（各取最快的持久化策略：%s 与 %s）。"},
	"between plain":      {"%s against %s, %s: %s QPS (%s and %s).", "%s 对 %s，%s：QPS %s（%s 与 %s）。"},
	"same between plain": {"%s against %s, %s: no difference between %s and %s: the 95%% intervals overlap.", "%s 对 %s，%s：%s 与 %s 无显著差异（95%% 置信区间重叠）。"},
	"faster after":       {"%s %s, %s: %s QPS.", "%s %s，%s：QPS %s。"},
	"other setting":      {"%s is %s before and %s after: the change may be that.", "%s 改造前为 %s，改造后为 %s：测试口径不同。"},
	"same after":         {"%s %s, %s: no difference: the 95%% intervals overlap.", "%s %s，%s：无显著差异（95%% 置信区间重叠）。"},

	"throughput chart": {"%s: mean QPS, 95%% interval", "%s：均值QPS与95%%置信区间"},
	"qps axis":         {"requests per second", "每秒请求数"},
	"latency chart":    {"%s %s: latency by percentile", "%s %s：延迟百分位曲线"},
	"percentile axis":  {"percentile", "百分位"},
	"ms axis":          {"milliseconds (log)", "毫秒（对数）"},
	"rate chart":       {"%s %s: rate over time", "%s %s：速率随时间变化"},
	"latency of":       {"%s: latency by percentile", "%s：延迟百分位曲线"},
	"rate of":          {"%s: rate over time", "%s：速率随时间变化"},
	"rate note":        {"the median round of each strategy", "各策略取中位数轮次"},
	"seconds axis":     {"seconds", "秒"},
	"rate axis":        {"requests per second", "每秒请求数"},
	"hover":            {"%s %s: %.2f QPS", "%s %s：%.2f QPS"},
	"hover ci":         {", 95%% interval %.2f to %.2f", "，95%% 置信区间 %.2f 至 %.2f"},
	"none complete":    {"no complete round", "无完成的轮次"},

	"result title": {"respbench results", "respbench 测试结果"},
	"suite title":  {"Benchmark report", "压测报告"},
	"test":         {"Test", "测试"}, "requests": {"Requests", "请求数"}, "errors": {"Errors", "错误"},
	"overall qps": {"Overall QPS", "总体QPS"},
	"replies":     {"%s: replies and their cost (all rounds)", "%s：回复与开销（所有轮次）"}, "miss rate": {"Miss rate", "未命中率"},
	"conflict rate": {"Conflict rate", "冲突率"}, "verified": {"Verified", "已校验"}, "server cpu": {"Server CPU us/request", "服务端CPU us/请求"},
	"summary": {"Summary", "汇总"}, "latency table": {"Latency (ms)", "延迟（ms）"}, "verdict": {"What limited the run", "瓶颈判断"},
	"clients": {"Clients", "连接数"}, "pipeline": {"Pipeline", "pipeline"},
	"min": {"min", "最小"}, "avg": {"avg", "平均"}, "max": {"max", "最大"}, "cpu": {"Client CPU us/request", "客户端CPU us/请求"},
	"service": {"%s: service time", "%s：服务时间"}, "response": {"%s: response time", "%s：响应时间"},
}
