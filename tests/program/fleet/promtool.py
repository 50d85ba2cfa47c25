"""`promtool test rules` with the rules and alerts of this project."""
import os
import subprocess
import tempfile

import tap

FIRING = 'count by (alertname, instance, layer, device, cause) (ALERTS{alertstate="firing"})'
examples = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples/prometheus")


def series(name, labels, values):
    inner = ",".join(f'{k}="{v}"' for k, v in labels.items())
    return f"  - series: '{name}{{{inner}}}'\n    values: '{' '.join(values)}'\n"


def sample(labels):
    inner = ", ".join(f'{k}="{v}"' for k, v in labels.items())
    return f"{{labels: '{{{inner}}}', value: 1}}"


def firing(alertname, instance, **labels):
    return sample({"alertname": alertname, "instance": instance, **labels})


def check(what, tests, interval="15s", evaluate="1m"):
    """@tests: (series, [(expression, time, [samples])])"""
    with tempfile.NamedTemporaryFile("w", suffix=".yml", delete=False, encoding="utf-8") as f:
        # else in any order, and an alert that lasts a minute may be a minute late
        f.write(f"rule_files: ['{examples}/kstall-rules.yml', '{examples}/kstall-alerts.yml']\nevaluation_interval: {evaluate}\n"
                "group_eval_order: [kstall_node, kstall_straggler, kstall_errors, kstall_days, kstall_alerts]\ntests:\n")
        for text, expectations in tests:
            f.write(f"- interval: {interval}\n  input_series:\n{text}  promql_expr_test:\n")
            for expr, at, samples in expectations:
                f.write(f"  - expr: '{expr}'\n    eval_time: {at}\n    exp_samples: [{', '.join(samples)}]\n")
    p = subprocess.run(["promtool", "test", "rules", f.name], capture_output=True, text=True)
    os.unlink(f.name)
    tap.result(p.returncode == 0, what, p.stdout + p.stderr)
