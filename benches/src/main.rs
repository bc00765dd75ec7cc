use cpu_time::ProcessTime;
use headrace_kernel::*;
use headrace_stats::Tally;
use headrace_units::Nanos;
use std::cell::RefCell;

fn raw(n: u64) -> f64 {
    use std::cmp::Reverse;
    use std::collections::{BinaryHeap, VecDeque};
    let mut arrivals = Stream::named(1, "source", "arrival").draws();
    let mut services = Stream::named(1, "server", "service").draws();
    let mut heap = BinaryHeap::new();
    let mut queue = VecDeque::new();
    let mut busy = false;
    let mut made = 1u64;
    let mut done = 0;
    let mut sum = 0u128;
    heap.push(Reverse((Nanos::from_secs(arrivals.exponential() / 0.8).0, 0u8)));
    while done < n {
        let Reverse((now, kind)) = heap.pop().unwrap();
        if kind == 0 {
            queue.push_back(now);
            if made < n {
                made += 1;
                heap.push(Reverse((now + Nanos::from_secs(arrivals.exponential() / 0.8).0, 0)));
            }
            if !busy {
                busy = true;
                heap.push(Reverse((now + Nanos::from_secs(services.exponential()).0, 1)));
            }
        } else {
            sum += (now - queue.pop_front().unwrap()) as u128;
            done += 1;
            if queue.is_empty() {
                busy = false
            } else {
                heap.push(Reverse((now + Nanos::from_secs(services.exponential()).0, 1)));
            }
        }
    }
    sum as f64 / n as f64 * 1e-9
}

fn mm1(n: u64) -> f64 {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let responses = RefCell::new(Tally::default());
    let (s, r, t) = (&sim, &server, &responses);
    let service = Stream::named(1, "server", "service");
    sim.spawn(async move {
        let mut arrivals = Stream::named(1, "source", "arrival").draws();
        for i in 0..n {
            s.delay(Nanos::from_secs(arrivals.exponential() / 0.8)).await;
            s.spawn(async move {
                let born = s.now();
                r.serve(Nanos::from_secs(service.of(i).exponential())).await;
                t.borrow_mut().record(s.now() - born);
            });
        }
    });
    sim.run(Nanos::MAX, u64::MAX);
    sim.finish();
    responses.borrow().mean_ns() * 1e-9
}

fn hold(n: u32, ops: u64) -> f64 {
    let mut q = EventQueue::default();
    let mut d = Stream::named(1, "", "").draws();
    for i in 0..n {
        q.push(Nanos::from_secs(d.exponential()), i);
    }
    let t = ProcessTime::now();
    for _ in 0..ops {
        let e = q.pop(Nanos::MAX).unwrap();
        let now = q.now();
        q.push(now + Nanos::from_secs(d.exponential()), e);
    }
    t.elapsed().as_secs_f64() * 1e9 / ops as f64
}

fn fork_join(n: u64) -> f64 {
    let sim = Sim::new();
    let disks: Vec<Resource> = (0..4).map(|_| Resource::fcfs(&sim, 1)).collect();
    let responses = RefCell::new(Tally::default());
    let (s, d, t) = (&sim, &disks, &responses);
    let streams: Vec<Stream> = (0..4).map(|i| Stream::named(1, &format!("disk[{i}]"), "service")).collect();
    let st = &streams;
    sim.spawn(async move {
        let mut arrivals = Stream::named(1, "source", "arrival").draws();
        for i in 0..n {
            s.delay(Nanos::from_ms(arrivals.exponential() / 0.07)).await;
            s.spawn(async move {
                let born = s.now();
                s.join_all(d.iter().zip(st).map(|(disk, stream)| {
                    let mut u = stream.of(i);
                    let service = 1.0
                        + 0.08 * (1e4 * (u.uniform() - u.uniform()).abs()).sqrt()
                        + 6.0 * u.uniform()
                        + 0.3;
                    disk.serve(Nanos::from_ms(service))
                }))
                .await;
                t.borrow_mut().record(s.now() - born);
            });
        }
    });
    sim.run(Nanos::MAX, u64::MAX);
    sim.finish();
    responses.borrow().mean_ns() * 1e-6
}

fn main() {
    for _ in 0..3 {
        let n = 5_000_000;
        let t = ProcessTime::now();
        let m = raw(n);
        println!("raw {:.2} M/s mean {m}", n as f64 / t.elapsed().as_secs_f64() / 1e6);
        let t = ProcessTime::now();
        let m = mm1(n);
        println!("mm1 {:.2} M/s mean {m}", n as f64 / t.elapsed().as_secs_f64() / 1e6);
        let t = ProcessTime::now();
        let m = fork_join(n / 5);
        println!("fj {:.2} M/s mean {m}", n as f64 / 5.0 / t.elapsed().as_secs_f64() / 1e6);
        println!("hold {} ns; small {} ns", hold(1_000_000, 5_000_000), hold(2, 5_000_000));
    }
}
