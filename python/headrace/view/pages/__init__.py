"""What was found as one page each, which needs no network: `headrace.reports.Pages`."""

from headrace.view.pages.comparison import write as write_comparison_with_measurement
from headrace.view.pages.comparison import write_fit
from headrace.view.pages.decisions import write_capacity, write_comparison, write_optimum, write_sensitivity
from headrace.view.pages.device import write as write_device
from headrace.view.pages.experiment import write as write_experiment
from headrace.view.pages.logs import write as write_log
from headrace.view.pages.notebook import in_notebook
from headrace.view.pages.run import write as write_run
from headrace.view.pages.solve import write as write_solution
from headrace.view.pages.study import write as write_study
from headrace.view.pages.trace import write as write_trace
from headrace.view.pages.validation import write as write_validation
from headrace.view.pages.validation import write_calibration
from headrace.view.pictures.experiment import chart as experiment_chart
from headrace.view.pictures.run import charts as run_charts

__all__ = [
    "experiment_chart",
    "in_notebook",
    "run_charts",
    "write_calibration",
    "write_capacity",
    "write_comparison",
    "write_comparison_with_measurement",
    "write_device",
    "write_experiment",
    "write_fit",
    "write_log",
    "write_optimum",
    "write_run",
    "write_sensitivity",
    "write_solution",
    "write_study",
    "write_trace",
    "write_validation",
]
