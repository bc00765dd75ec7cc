//! A scenario that is read once and planned once, and the replications of it that were run so far.

use std::path::{Path as FilePath, PathBuf};

use crate::document::{Problems, Tree};
use crate::job_files::{self, JobFiles};
use crate::plan::{Plan, Split};
use crate::progress::Progress;
use crate::run::{self, Deadline, Options, Replications};
use crate::spec::{Engine, ScenarioSpec};
use crate::{Found, catalog, durability, plan, results, samples, solve, theory, uncertain, variation};

/// A scenario that was read, and is planned when its plan is first needed.
pub struct Prepared {
    tree: Tree,
    spec: ScenarioSpec,
    /// Files of devices and of samples that it names.
    named: Vec<PathBuf>,
    jobs: Option<job_files::UsedJobFile>,
    plan: Option<Plan>,
    /// True once formulas have not found it overloaded.
    is_sustained: bool,
    replications: Replications,
}

impl Prepared {
    /// Reads the scenario `source`, which came from `file` and whose own files lie beside it, and fills in its defaults, whether
    /// or not it can work. `sets` are values to put instead of what the text has: (`run.seed`, `7`); `jobs` reads a job file of
    /// fio that it names.
    ///
    /// # Errors
    /// Every place that does not have what the schema asks for.
    pub fn read(
        source: &str,
        file: &str,
        sets: &[(String, String)],
        jobs: JobFiles,
    ) -> Result<Self, Problems> {
        let mut tree =
            Tree::parse(source, file).map_err(|problem| Problems::unparsed(problem, source, file))?;
        let jobs = job_files::put_in(&mut tree, sets, jobs)?;
        let mut named = variation::named(&tree.root, tree.folder());
        named.extend(samples::named(&tree.root, tree.folder()));
        let spec = ScenarioSpec::read(&mut tree).map_err(|problems| Problems::of(&tree, problems))?;
        let uncertain = uncertain::problems(&tree, &spec);
        if !uncertain.is_empty() {
            return Err(Problems::of(&tree, uncertain));
        }
        Ok(Self {
            tree,
            spec,
            named,
            jobs,
            plan: None,
            is_sustained: false,
            replications: Replications::default(),
        })
    }

    /// The scenario, defaults filled in.
    pub fn spec(&self) -> &ScenarioSpec {
        &self.spec
    }

    /// Options of a job file of fio that have no effect, with the reason.
    pub fn remarks(&self) -> &[String] {
        self.jobs.as_ref().map_or(&[], |jobs| &jobs.remarks)
    }

    /// The files that the scenario is read from: its own, the traces, logs, samples and job files that it names, all devices beside it, and
    /// those that it names by their paths.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let folder = self.tree.folder();
        let own = Some(PathBuf::from(&self.tree.file)).filter(|file| file.is_file());
        let recorded =
            self.spec.workload.values().filter_map(|stream| Some(folder.join(stream.arrivals.file()?)));
        let jobs = self.jobs.iter().map(|jobs| folder.join(&jobs.file));
        let named = self.named.iter().cloned();
        own.into_iter().chain(recorded).chain(catalog::own_files(folder)).chain(named).chain(jobs).collect()
    }

    /// Returns the plan, overloaded or not.
    ///
    /// # Errors
    /// All errors in the scenario.
    pub fn plan(&mut self, progress: &Progress) -> Result<&Plan, Problems> {
        if self.plan.is_none() {
            let plan = plan::of(self.spec.clone(), FilePath::new(&self.tree.file), progress);
            self.plan = Some(plan.map_err(|problems| Problems::of(&self.tree, problems))?);
        }
        Ok(self.plan.as_ref().expect("it was planned"))
    }

    /// Returns the plan of a scenario that can sustain its load.
    ///
    /// # Errors
    /// All errors in the scenario; overload is one.
    pub fn sustained(&mut self, progress: &Progress) -> Result<&Plan, Problems> {
        if !self.is_sustained {
            let unstable = theory::unstable(self.plan(progress)?);
            if !unstable.is_empty() {
                return Err(Problems::of(&self.tree, unstable));
            }
            self.is_sustained = true;
        }
        self.engine()?;
        self.plan(progress)
    }

    /// Returns the engine of a scenario that is planned.
    fn engine(&self) -> Result<Engine, Problems> {
        run::engine(self.plan.as_ref().expect("it was planned")).map_err(|why| {
            let help = "remove `run.engine`, or use `events`";
            Problems::file(
                &self.tree.file,
                format!("`run.engine`: the recursion does not apply: {why}"),
                help,
            )
        })
    }

    /// Returns the plan as [`sustained`](Self::sustained) does, when nothing else is wanted of the scenario.
    ///
    /// # Errors
    /// As `sustained`.
    pub fn into_plan(mut self, progress: &Progress) -> Result<Plan, Problems> {
        self.sustained(progress)?;
        Ok(self.plan.expect("it was planned"))
    }

    /// Solves the scenario by formulas, at the loads between `range`; overload is no error.
    ///
    /// # Errors
    /// All errors in it, or why it is not a network of queues that formulas are known for; or the program has a defect.
    pub fn solve(
        &mut self,
        range: Option<(f64, f64)>,
        progress: &Progress,
    ) -> Result<solve::Solved, Problems> {
        let plan = self.plan(progress)?;
        let mut broken = None;
        let solved = solve::solve(plan, range, progress, |own| {
            results::formula_error(plan, own, progress).unwrap_or_else(|law| {
                broken = Some(law);
                None
            })
        });
        match broken {
            Some(broken) => Err(self.defect(broken)),
            None => solved.map_err(|problems| Problems::of(&self.tree, problems)),
        }
    }

    /// Estimates the chance of data loss from the scenario's `rates`.
    ///
    /// # Errors
    /// All errors in it, overload among them; or why there is no estimate: see [`durability::of`].
    pub fn durability(
        &mut self,
        wanted: &durability::Wanted,
        progress: &Progress,
    ) -> Result<durability::Durability, Problems> {
        let found = durability::of(self.sustained(progress)?, wanted, progress);
        found.map_err(|problem| Problems::of(&self.tree, vec![problem]))
    }

    /// Runs the scenario with `replications` replications, or the number that it asks for itself.
    ///
    /// # Errors
    /// All errors in it, overload among them; or the program has a defect.
    pub fn run(
        &mut self,
        replications: Option<u32>,
        options: &Options,
        progress: &Progress,
    ) -> Result<Found, Problems> {
        self.replications = Replications::default();
        self.sustained(progress)?;
        self.complete(|own| replications.unwrap_or(own), options, progress)
    }

    /// Runs `more` replications beside those that were run so far, and returns what all of them found: bit for bit as one run of
    /// that many replications.
    ///
    /// # Errors
    /// The program has a defect.
    pub fn extend(&mut self, more: u32, options: &Options, progress: &Progress) -> Result<Found, Problems> {
        self.sustained(progress)?;
        self.complete(|so_far| so_far.saturating_add(more), options, progress)
    }

    fn complete(
        &mut self,
        replications: impl FnOnce(u32) -> u32,
        options: &Options,
        progress: &Progress,
    ) -> Result<Found, Problems> {
        let engine = self.engine()?;
        let plan = self.plan.as_mut().expect("it was planned");
        plan.spec.run.replications = replications(plan.spec.run.replications);
        let deadline = Deadline::new(plan, progress);
        let replications = &mut self.replications;
        let ran = if plan.is_to_split() && options.replication.is_none() {
            replications.complete_split(plan, engine, options, &deadline)
        } else {
            replications.complete(plan, engine, options, &deadline);
            Ok(())
        };
        let outcomes = ran.and_then(|()| replications.outcomes(plan));
        let results = outcomes.and_then(|found| results::of(plan, engine, &found, options, &deadline));
        plan.split = Split::NONE;
        let results = results.map_err(|broken| self.defect(broken))?;
        Ok(Found { results, journeys: self.replications.journeys().to_vec() })
    }

    fn defect(&self, broken: String) -> Problems {
        Problems::file(&self.tree.file, broken, "keep the scenario: it reproduces the defect")
    }
}
