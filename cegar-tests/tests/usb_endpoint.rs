//! What `cargo cegar` found in `usb_endpoint`.

use cegar_harness::*;

c_structs! {
    struct device {
        driver_data: *mut u8,
        users: i32,
    }
    struct endpoint {
        address: u8,
        attributes: u8,
        max_packet: u16,
    }
    struct interface {
        ep: *mut endpoint,
        count: u32,
        dev: device,
    }
}

/// /work/shared/benchmarks/seahorn/usb_endpoint.c:31: the error function is reached. Found by
/// fuzzing.
#[test]
fn main_reach_error_c5d67f() {
    Mock::new("usb_endpoint")
        .returns_object(
            "usb_get_interface",
            interface {
                ep: objects([
                    endpoint {
                        address: 0x80,
                        attributes: 3,
                        max_packet: 9,
                    },
                    endpoint {
                        address: 0x80,
                        attributes: 3,
                        max_packet: 9,
                    },
                ]),
                count: 2,
                ..zeroed()
            },
        )
        .returns("usb_submit", [0, 0])
        .run()
        .expect_safe();
}
