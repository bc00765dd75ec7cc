//! What a tape library notices, and its meters.

use headrace_units::Nanos;

use super::{Cells, TapeLibrary};
use crate::core::component::Component;
use crate::core::health::Change;
use crate::core::meter::{Activity, Meter, Portion, waits};

impl<'m> Component<'m> for TapeLibrary<'m> {
    fn begin(&'m self) {
        self.begin_maintenance();
    }

    fn change_piece(&'m self, piece: u32, change: Change) {
        self.drives.change(piece, change);
    }

    fn activity(&self, now: Nanos) -> Option<Activity> {
        let drives = &self.drives;
        let (waits, services, queue) = (drives.waits.get(), drives.services.get(), drives.queue());
        Some(Activity {
            servers: drives.number(),
            busy: drives.busy.borrow().map(|level| level.area(now)),
            queue: queue.area(now),
            waiting: queue.value(),
            visits: waits.count,
            waited: waits.time,
            served: services.count,
            service: services.time,
            away: (0..self.spec.groups.len()).map(|group| drives.waited_and_away(group).1).sum(),
            ..Activity::default()
        })
    }

    fn portions(&self, now: Nanos) -> Vec<Portion> {
        let (groups, cartridge) = self.drives.used();
        let busy = |time: Nanos| u128::from(time.0);
        let mut portions = Vec::new();
        for (at, (group, used)) in self.spec.groups.iter().zip(groups).enumerate() {
            let (queue, away) = self.drives.waited_and_away(at);
            let name = format!("drives of groups[{at}]");
            portions.push(Portion {
                name,
                servers: u64::from(group.drives),
                busy: busy(used),
                away,
                queue: Some(queue),
            });
            let arms = self.drives.arms.groups[at].usage();
            portions.push(Portion {
                name: format!("arms of groups[{at}]"),
                servers: u64::from(group.arms),
                busy: arms.busy.area(now),
                away: arms.away.area(now),
                queue: Some(arms.queue.area(now)),
            });
        }
        let one = Portion {
            name: "one cartridge".to_owned(),
            servers: 1,
            busy: busy(cartridge),
            away: 0,
            queue: None,
        };
        portions.push(one);
        portions.extend(self.drives.shares.portions(now));
        portions
    }

    fn waiting(&self) -> Vec<String> {
        let (drives, path) = (&self.drives, self.context.path);
        let at_arms = drives.arms.groups.iter().map(|arms| arms.usage().queue.value()).sum();
        let all = [
            waits(drives.queue().value(), "request", &format!("a drive of `{path}`")),
            waits(at_arms, "mount", &format!("a robot arm of `{path}`")),
        ];
        all.into_iter().flatten().collect()
    }

    fn remarks(&self, now: Nanos) -> Vec<String> {
        let mean = |area: u128| area as f64 / now.0.max(1) as f64;
        let away = |portion: &Portion| {
            let Portion { name, servers, away, .. } = portion;
            let message = || {
                format!(
                    "{}: {name}: {:.2} of {servers} had failed on average; utilisation is that of the others",
                    self.context.path,
                    mean(*away)
                )
            };
            (*away > 0).then(message)
        };
        let idle = self.drives.shares.idle().into_iter().map(|idle| format!("{}: {idle}", self.context.path));
        self.portions(now).iter().filter_map(away).chain(idle).collect()
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let mounts = self.drives.mounts.get();
        let links = self.links.iter().map(|link| self.context.shared.fluid.usage(*link));
        put("mounts", Meter::Count(mounts));
        put("mounts_per_access", Meter::Share(mounts, self.accesses.get()));
        put("locate_ms", Meter::Share(self.located_ms.get(), self.accesses.get()));
        put("most_drives_busy", Meter::Peak(self.held.borrow().max()));
        put("bytes_read", Meter::Count(self.read.get()));
        put("bytes_written", Meter::Count(self.written.get()));
        put("paths_busy", Meter::Area(links.map(|usage| usage.busy.iter().sum::<u128>()).sum()));
        put("passed_through", Meter::Count(self.drives.passed.get()));
        if self.spec.cells.as_ref().is_some_and(Cells::relocates) {
            put("relocated", Meter::Count(self.drives.relocated.get()));
        }
        if self.spec.cleaning.is_some() {
            put("cleanings", Meter::Count(self.drives.cleanings.get()));
        }
        put("back_hitches", Meter::Count(self.back_hitches.get()));
        if let Some(within) = self.drives.shares.within_deadline() {
            put("within_deadline", within);
        }
        if self.drives.failures.get() > 0 {
            put("failures", Meter::Count(self.drives.failures.get()));
        }
        self.maintenance.meters(now, put);
    }
}
